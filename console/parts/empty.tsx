import type { ReactNode } from 'react'
import styles from './empty.module.css'

/** Where nothing is yet: says what would be here, and the next step towards it. */
export const Empty = ({
	title,
	children,
	action,
}: {
	title: string
	children?: ReactNode
	action?: ReactNode
}) => (
	<div className={styles.empty}>
		<h2>{title}</h2>
		{children}
		{action && <div className={styles.action}>{action}</div>}
	</div>
)
