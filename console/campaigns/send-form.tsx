import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Campaign } from '../../client/index.ts'
import { isStatus } from '../client.ts'
import { Choice } from '../editor/choice.tsx'
import { firstContent } from '../editor/content.ts'
import type { Writing } from '../editor/writing.ts'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Notice } from '../parts/notice.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { timeProblem } from '../parts/time-problem.ts'
import { useProject } from '../shell/projects.ts'
import type { CampaignValues } from './campaign-values.ts'
import { countOf, nextHour } from './sending.ts'
import { useSending } from './use-sending.ts'

interface Props {
	campaign: Campaign
	writing: Writing<CampaignValues>
	count: number
	values: CampaignValues
	onSent: () => void
	onReload: () => void
}

/** Now or at a time. */
export function SendForm({ campaign, writing, count, values, onSent, onReload }: Props) {
	const { project } = useProject()
	const [when, setWhen] = useState<'now' | 'later'>(campaign.scheduledFor ? 'later' : 'now')
	const { mutate, isPending, error } = useSending(campaign, writing, onSent)
	const [problem, setProblem] = useState<Error | null>(null)
	const people = countOf(count)
	if (count === 0 && when === 'now' && !campaign.scheduledFor)
		return <Nobody onLater={() => setWhen('later')} type={values.type} />
	if (isStatus(error, 409)) return <Changed onReload={onReload} />
	return (
		<Form
			act={when === 'now' ? `Send to ${people}` : `Schedule for ${people}`}
			isBusy={isPending}
			error={problem ?? error}
			onSubmit={(form) => {
				const at = when === 'now' ? null : form.text('scheduledFor')
				const found = at === null ? null : timeProblem(at)
				setProblem(found)
				if (!found) mutate(at === null ? undefined : new Date(at))
			}}
		>
			<p>
				<strong>{values.subject}</strong> goes from {values.from} to <strong>{people}</strong>.
			</p>
			<Choice
				name="When"
				value={when}
				options={[
					{ value: 'now', name: 'Now' },
					{ value: 'later', name: 'At a time' },
				]}
				onChange={(chosen) => {
					setProblem(null)
					setWhen(chosen)
				}}
			/>
			{when === 'now' ? (
				<p>
					It begins at once. You can pause or cancel it, but mail that has left cannot be taken
					back.
				</p>
			) : (
				<TextField
					name="scheduledFor"
					label="Time"
					type="datetime-local"
					hint="In your time zone. The audience is counted again at that time."
					defaultValue={nextHour(campaign.scheduledFor)}
					error={error}
				/>
			)}
			{values.body === firstContent.body && <Unwritten />}
			{values.type === 'MARKETING' && !project.postalAddress && (
				<Notice tone="warn">
					<p>
						This project has no postal address. Many countries require one in marketing mail. Set it
						in the <Link to={`/console/${project.id}/settings/sending` as '/'}>settings</Link>.
					</p>
				</Notice>
			)}
		</Form>
	)
}

const Unwritten = () => (
	<Notice tone="warn">
		<p>
			<strong>The mail is not written yet.</strong> Its text is still the one that every new mail
			begins with.
		</p>
	</Notice>
)

const Changed = ({ onReload }: { onReload: () => void }) => (
	<Stack>
		<p>
			<strong>The campaign has changed since you opened it.</strong> Nothing was sent. Look at it as
			it is now, and send it then.
		</p>
		<Row>
			<Button onClick={onReload}>Show it as it is now</Button>
		</Row>
	</Stack>
)

const Nobody = ({ type, onLater }: { type: Campaign['type']; onLater: () => void }) => (
	<>
		<p>
			<strong>Nobody would get it now.</strong> Suppressed addresses do not count
			{type === 'TRANSACTIONAL' ? '' : ', nor contacts who have not subscribed'}. Choose another
			audience, or schedule it for later.
		</p>
		<Row>
			<Button onClick={onLater}>Schedule it for later</Button>
		</Row>
	</>
)
