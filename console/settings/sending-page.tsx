import { createLazyRoute } from '@tanstack/react-router'
import type { Project } from '../../client/index.ts'
import { Select, TextArea } from '../parts/field.tsx'
import { counted } from '../parts/counted.ts'
import { Facts } from '../parts/figures.tsx'
import { Form } from '../parts/form.tsx'
import { Section, Stack } from '../parts/page.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import { useSettings } from './use-settings.ts'

export const page = createLazyRoute('/console/$projectId/settings/sending')({
	component: SendingPage,
})

const modes: { value: Project['tracking']; name: string }[] = [
	{ value: 'ENABLED', name: 'In all mail' },
	{ value: 'MARKETING_ONLY', name: 'In campaigns and other marketing mail only' },
	{ value: 'DISABLED', name: 'In no mail' },
]

function SendingPage() {
	const { project } = useProject()
	return (
		<Stack>
			{mayAct(project, 'ADMIN') ? <SendingForm key={project.id} /> : <ReadOnly />}
			<Section title="Send rate">
				<p>{rateOf(project)}</p>
			</Section>
		</Stack>
	)
}

function SendingForm() {
	const { shown, save, error, isBusy } = useSettings('Tracking and postal address are saved')
	return (
		<Form
			act="Save"
			isLong
			isBusy={isBusy}
			error={error}
			onSubmit={(values) => {
				const chosen = modes.find(({ value }) => value === values.text('tracking'))
				save({
					tracking: chosen?.value ?? shown.tracking,
					postalAddress: values.text('postalAddress') || null,
				})
			}}
		>
			<Select
				name="tracking"
				label="Count opens and clicks"
				hint="For mail that is sent from now on. Without it, mail has no tracking pixel and its links lead straight to their targets."
				options={modes}
				defaultValue={shown.tracking}
				error={error}
			/>
			<TextArea
				name="postalAddress"
				label="Postal address"
				hint="Shown in the footer of marketing mail. Many countries require one."
				defaultValue={shown.postalAddress ?? ''}
				error={error}
			/>
		</Form>
	)
}

function ReadOnly() {
	const { project } = useProject()
	return (
		<>
			<p>Only administrators change these settings.</p>
			<Facts
				facts={[
					['Count opens and clicks', modes.find(({ value }) => value === project.tracking)?.name],
					['Postal address', project.postalAddress],
				]}
			/>
		</>
	)
}

function rateOf({ sendRatePerSecond: rate }: Project) {
	if (rate === null) return 'This project has the send rate of the installation.'
	if (rate === 0)
		return 'This project has no send rate: its mail is sent as fast as the provider takes it.'
	return `At most ${counted(rate, 'mail')} a second ${rate === 1 ? 'is' : 'are'} sent. The operator of this installation set this rate.`
}
