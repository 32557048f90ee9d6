import { createLazyRoute } from '@tanstack/react-router'
import { inWords } from '../parts/badge.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Select, TextField } from '../parts/field.tsx'
import { Facts } from '../parts/figures.tsx'
import { Form } from '../parts/form.tsx'
import { Section, Stack } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import { languagesWith } from './languages.ts'
import { ProjectRemoval } from './project-removal.tsx'
import { useSettings } from './use-settings.ts'

export const page = createLazyRoute('/console/$projectId/settings/')({ component: GeneralPage })

function GeneralPage() {
	const { project } = useProject()
	const isAdministrator = mayAct(project, 'ADMIN')
	return (
		<Stack>
			{isAdministrator ? <NameAndLanguage key={project.id} /> : <ReadOnly />}
			<Section title="About this project">
				<Facts
					facts={[
						['Id', <Copyable text={project.id} />],
						['Your role', inWords(project.role)],
						['Created', <Time at={project.createdAt} as="date" />],
						['Last changed', <Time at={project.updatedAt} as="date" />],
					]}
				/>
			</Section>
			{isAdministrator && <ProjectRemoval />}
		</Stack>
	)
}

function NameAndLanguage() {
	const { shown, save, error, isBusy } = useSettings('Name and language are saved')
	return (
		<Form
			act="Save"
			isLong
			isBusy={isBusy}
			error={error}
			onSubmit={(values) => save({ name: values.text('name'), language: values.text('language') })}
		>
			<TextField
				name="name"
				label="Name"
				hint="Members see it, and so do people who are invited."
				defaultValue={shown.name}
				error={error}
			/>
			<Select
				name="language"
				label="Language"
				hint="Of unsubscribe pages and footers. The text of your mails is not translated."
				options={languagesWith(shown.language)}
				defaultValue={shown.language}
				error={error}
			/>
		</Form>
	)
}

function ReadOnly() {
	const { project } = useProject()
	const language = languagesWith(project.language).find(({ value }) => value === project.language)
	return (
		<>
			<p>Only administrators change these settings.</p>
			<Facts
				facts={[
					['Name', project.name],
					['Language', language?.name],
				]}
			/>
		</>
	)
}
