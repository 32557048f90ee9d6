import type { Campaign } from '../../client/index.ts'
import { Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'

export const ScheduledNotice = ({ campaign: { scheduledFor } }: { campaign: Campaign }) => (
	<Notice>
		<p>
			It will be sent on <Time at={scheduledFor} as="date" />. The audience is counted again at that
			time, and saved changes apply until then.
		</p>
	</Notice>
)
