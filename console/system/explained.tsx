import type { ReactNode } from 'react'
import styles from './explained.module.css'

export interface ExplainedOf {
	name: string
	value: ReactNode
	/** What it means, and what to do when it is bad. */
	about: ReactNode
}

/** Values with their meaning beside them. */
export const Explained = ({ items }: { items: ExplainedOf[] }) => (
	<dl className={styles.list}>
		{items.map(({ name, value, about }) => (
			<div key={name} className={styles.item}>
				<dt>{name}</dt>
				<dd className={styles.value}>{value}</dd>
				<dd className={styles.about}>{about}</dd>
			</div>
		))}
	</dl>
)
