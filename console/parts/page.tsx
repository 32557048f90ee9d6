import { type ReactNode, useEffect } from 'react'
import styles from './page.module.css'

interface Props {
	title: string
	/** Beside the title: a status, for example. */
	about?: ReactNode
	actions?: ReactNode
	/** A link to the list that this page is about one of. */
	back?: ReactNode
	children: ReactNode
}

/** The head of every page, and its content below. */
export function Page({ title, about, actions, back, children }: Props) {
	useEffect(() => {
		document.title = `${title} – Tempost`
	}, [title])
	return (
		<>
			{back && <div className={styles.back}>{back}</div>}
			<header className={styles.head}>
				<h1>{title}</h1>
				{about}
				{actions && <div className={styles.actions}>{actions}</div>}
			</header>
			{children}
		</>
	)
}

/** A part of a page with a heading. */
export function Section({
	title,
	actions,
	children,
}: {
	title: string
	actions?: ReactNode
	children: ReactNode
}) {
	return (
		<section className={styles.section} aria-label={title}>
			<header className={styles.head}>
				<h2>{title}</h2>
				{actions && <div className={styles.actions}>{actions}</div>}
			</header>
			{children}
		</section>
	)
}

/** A white area with a border. */
export const Card = ({ children }: { children: ReactNode }) => (
	<div className={styles.card}>{children}</div>
)

/** Controls in a row that breaks where it must. */
export const Row = ({ children }: { children: ReactNode }) => (
	<div className={styles.row}>{children}</div>
)

/** Children below each other. */
export const Stack = ({ children }: { children: ReactNode }) => (
	<div className={styles.stack}>{children}</div>
)

/** Beside each other where there is room, below each other on a phone. */
export const Columns = ({ children }: { children: ReactNode }) => (
	<div className={styles.columns}>{children}</div>
)

/** Words of less weight, in a line. */
export const Soft = ({ children }: { children: ReactNode }) => (
	<span className={styles.soft}>{children}</span>
)
