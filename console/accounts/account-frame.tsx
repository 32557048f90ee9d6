import { type ReactNode, useEffect } from 'react'
import styles from './account-frame.module.css'

/** Pages before there is a project. */
export function AccountFrame({ title, children }: { title: string; children: ReactNode }) {
	useEffect(() => {
		document.title = `${title} – Tempost`
	}, [title])
	return (
		<main className={styles.frame}>
			<img src="/console/icon.svg" alt="" />
			<h1>{title}</h1>
			{children}
		</main>
	)
}
