import type { ReactNode } from 'react'
import type { Tone } from './badge.tsx'
import { Time } from './time.tsx'
import styles from './timeline.module.css'

export interface Moment {
	at: string
	title: ReactNode
	detail?: ReactNode
	tone?: Tone
}

interface Props {
	moments: Moment[]
	/** How the moments are written. */
	as?: 'ago' | 'date'
}

/** What happened, in order, with the moments beside it. */
export const Timeline = ({ moments, as = 'date' }: Props) => (
	<ol className={styles.timeline}>
		{moments.map(({ at, title, detail, tone = 'none' }, index) => (
			<li key={`${at} ${index}`} data-tone={tone}>
				<span className={styles.time}>
					<Time at={at} as={as} />
				</span>
				<div>
					<p className={styles.title}>{title}</p>
					{detail && <div className={styles.detail}>{detail}</div>}
				</div>
			</li>
		))}
	</ol>
)
