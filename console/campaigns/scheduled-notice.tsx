import type { Campaign } from '../../client/index.ts'
import { counted } from '../parts/counted.ts'
import { Time } from '../parts/time.tsx'
import styles from './notice.module.css'

export const ScheduledNotice = ({
	campaign: { scheduledFor, totalRecipients },
}: {
	campaign: Campaign
}) => (
	<p className={styles.notice} data-tone="info">
		It will be sent on <Time at={scheduledFor} as="date" />. {counted(totalRecipients, 'contact')}{' '}
		would get it now; the audience is counted again at that time. Saved changes apply until then.
	</p>
)
