import styles from './waiting.module.css'

/** Where data will be: the same height, so that nothing jumps when it arrives. */
export const Waiting = ({ rows = 8 }: { rows?: number }) => (
	<div className={styles.waiting} role="status" aria-label="Loading">
		{Array.from({ length: rows }, (_, row) => (
			<div key={row} className={styles.row} />
		))}
	</div>
)
