import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Template } from '../../client/index.ts'
import { ContentEditor } from '../editor/content-editor.tsx'
import { type Content, contentOf } from '../editor/content.ts'
import { readDraft } from '../editor/drafts.ts'
import { usePerson } from '../editor/person.ts'
import { SaveButton, Unsaved } from '../editor/save-button.tsx'
import { SaveNotices } from '../editor/save-notices.tsx'
import { TestDialog } from '../editor/test-dialog.tsx'
import { useKeptDraft } from '../editor/use-kept-draft.ts'
import { useSaveKey } from '../editor/use-save-key.ts'
import { Writing } from '../editor/writing.ts'
import { Button } from '../parts/button.tsx'
import { Page, Stack } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { TemplateMenu } from './template-menu.tsx'
import { TemplatesLink } from './templates-link.tsx'

type Props = { onReload: () => void } & (
	| { template: Template; first?: undefined }
	| { template?: undefined; first: Content }
)

/** Writing a template. A new one is stored when it is saved for the first time. */
export function TemplateWriting({ template, first, onReload }: Props) {
	const { project, api } = useProject()
	const navigate = useNavigate()
	const [writing] = useState(() => {
		const id = template ? `template.${template.id}` : `template.new.${project.id}`
		return new Writing(
			id,
			first ?? contentOf(template),
			template?.updatedAt,
			readDraft<Content>(id),
		)
	})
	const person = usePerson()
	const [isTesting, setTesting] = useState(false)
	const { save, saveOver, saveNow, isSaving, error } = useSaving(writing, template)
	useKeptDraft(writing)
	useSaveKey(save)

	async function sendTest(to: string) {
		if (writing.isChanged) await saveNow()
		const { contact, data } = person
		return api.templates.test(template!.id, { to, data, contactId: contact?.id })
	}
	const leave = () =>
		navigate({ to: '/console/$projectId/templates', params: { projectId: project.id } })
	return (
		<Page
			title={template?.name ?? 'New template'}
			back={<TemplatesLink />}
			about={<Unsaved writing={writing} />}
			actions={
				<>
					<SaveButton writing={writing} onSave={save} isBusy={isSaving} isNew={!template} />
					{template && (
						<>
							<Button onClick={() => setTesting(true)}>Send test</Button>
							<TemplateMenu template={template} onDeleted={leave} />
						</>
					)}
				</>
			}
		>
			<Stack>
				<SaveNotices
					noun="template"
					error={error}
					work={writing}
					onOverwrite={saveOver}
					onReload={onReload}
				/>
				<ContentEditor writing={writing} person={person} error={error} />
			</Stack>
			<TestDialog
				field="to"
				isOpen={isTesting}
				onClose={() => setTesting(false)}
				isChanged={writing.isChanged}
				send={sendTest}
			/>
		</Page>
	)
}

function useSaving(writing: Writing<Content>, template: Template | undefined) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const navigate = useNavigate()
	const toast = useToast()
	const { mutate, mutateAsync, isPending, error } = useMutation({
		// One after the other: each is based on the version that the one before it stored.
		scope: { id: `template ${template?.id}` },
		async mutationFn({ isOver = false }: { isOver?: boolean }) {
			const sent = writing.now()
			const saved = template
				? await api.templates.update(template.id, sent, {
						unchangedSince: isOver ? undefined : writing.version,
					})
				: await api.templates.create(sent)
			writing.save(sent, saved.updatedAt)
			return saved
		},
		async onSuccess(saved) {
			toast({ title: 'The template is saved' })
			queries.setQueryData([project.id, 'templates', 'one', saved.id], saved)
			await queries.invalidateQueries({ queryKey: [project.id, 'templates', 'list'] })
			if (!template)
				await navigate({
					to: '/console/$projectId/templates/$templateId',
					params: { projectId: project.id, templateId: saved.id },
					replace: true,
				})
		},
	})
	return {
		save() {
			if (!isPending && (writing.isChanged || !template)) mutate({})
		},
		saveOver: () => mutate({ isOver: true }),
		saveNow: () => mutateAsync({}),
		isSaving: isPending,
		error,
	}
}
