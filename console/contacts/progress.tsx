import { Progress as Parts } from '@base-ui/react/progress'
import styles from './progress.module.css'

/** How far a job has come. */
export const Progress = ({ name, percent }: { name: string; percent: number }) => (
	<Parts.Root value={percent} className={styles.progress} aria-label={name}>
		<Parts.Track className={styles.track}>
			<Parts.Indicator className={styles.indicator} />
		</Parts.Track>
	</Parts.Root>
)
