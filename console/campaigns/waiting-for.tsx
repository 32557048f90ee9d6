import type { CampaignProgress } from '../../client/index.ts'
import { counted } from '../parts/counted.ts'
import { Time } from '../parts/time.tsx'

const waits = (mails: number) => `${counted(mails, 'mail')} ${mails === 1 ? 'waits' : 'wait'}`

type Wait = NonNullable<CampaignProgress['waitingFor']>
type Halt = Wait & { reason: Exclude<Wait['reason'], 'rate'> }

/** Whether nothing is sent for a while. The send rate only spreads mails over time. */
export const isHalt = (wait: Wait | null): wait is Halt => wait !== null && wait.reason !== 'rate'

/** Why no mail of a campaign is sent, and how long. */
export function WaitingFor({ waitingFor }: { waitingFor: Halt }) {
	const { reason, message, until, mails } = waitingFor
	const again = until && (
		<>
			{' '}
			It goes on <Time at={until} />.
		</>
	)
	switch (reason) {
		case 'paused':
			return (
				<>
					Paused. {waits(mails)} until you resume it.
					{message && <> {message}</>}
				</>
			)
		case 'billing':
			return (
				<>
					A billing limit is reached, or the free mails of the month are used up. {waits(mails)},
					and {mails === 1 ? 'goes' : 'go'} on without you once the limit is raised, the project has
					a subscription, or the month ends.
				</>
			)
		case 'provider':
			return (
				<>
					The mail provider does not take mail now; {waits(mails)}.
					{message && <> It says: “{message}”.</>}
					{again}
				</>
			)
	}
}
