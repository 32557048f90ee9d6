import type { Campaign } from '../../client/index.ts'
import { counted } from '../parts/counted.ts'
import { Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'

export const ScheduledNotice = ({
	campaign: { scheduledFor, totalRecipients },
}: {
	campaign: Campaign
}) => (
	<Notice>
		<p>
			It will be sent on <Time at={scheduledFor} as="date" />. {counted(totalRecipients, 'contact')}{' '}
			would get it now; the audience is counted again at that time. Saved changes apply until then.
		</p>
	</Notice>
)
