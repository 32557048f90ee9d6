import type { ReactNode } from 'react'
import styles from './notice.module.css'

interface Props {
	tone?: 'info' | 'good' | 'warn' | 'bad'
	/** One that appears while the page is read is read out. */
	role?: 'note' | 'status' | 'alert'
	actions?: ReactNode
	children: ReactNode
}

/** Something the reader should know here, and what can be done about it. */
export const Notice = ({ tone = 'info', role = 'note', actions, children }: Props) => (
	<div className={styles.notice} data-tone={tone} role={role}>
		<div className={styles.words}>{children}</div>
		{actions && <div className={styles.actions}>{actions}</div>}
	</div>
)
