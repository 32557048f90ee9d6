import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useRef, useState } from 'react'
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
	| { template: Template; first?: undefined; onMade?: undefined }
	| { template?: undefined; first: Content; onMade: (templateId: string) => void }
)

const draftOf = (id: string) => `template.${id}`

/** Writing a template. A new one is stored when it is saved for the first time. */
export function TemplateWriting({ template: given, first, onMade, onReload }: Props) {
	const { project, api } = useProject()
	const navigate = useNavigate()
	const [writing] = useState(() => {
		const id = draftOf(given ? given.id : `new.${project.id}`)
		return new Writing(id, first ?? contentOf(given), given?.updatedAt, readDraft<Content>(id))
	})
	const person = usePerson()
	const [isTesting, setTesting] = useState(false)
	const { template, save, saveOver, saveNow, isSaving, error } = useSaving(writing, given, onMade)
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

function useSaving(
	writing: Writing<Content>,
	given: Template | undefined,
	onMade: Props['onMade'],
) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const router = useRouter()
	const toast = useToast()
	const [stored, setStored] = useState<Template>()
	const template = given ?? stored
	const latest = useRef(given)
	const { mutate, mutateAsync, isPending, error } = useMutation({
		// One after the other: each is based on the version that the one before it stored.
		scope: { id: writing.opening.toString() },
		async mutationFn({ isOver = false }: { isOver?: boolean }) {
			const sent = writing.now()
			const saved = latest.current
				? await api.templates.update(latest.current.id, sent, {
						unchangedSince: isOver ? undefined : writing.version,
					})
				: await api.templates.create(sent)
			writing.save(sent, saved.updatedAt, draftOf(saved.id))
			latest.current = saved
			return saved
		},
		async onSuccess(saved) {
			toast({ title: 'The template is saved' })
			if (given) queries.setQueryData([project.id, 'templates', 'one', saved.id], saved)
			else await show(saved)
			await queries.invalidateQueries({ queryKey: [project.id, 'templates', 'list'] })
		},
	})

	/** Gives a template that was new its address. Nothing that is being typed is left. */
	async function show(saved: Template) {
		setStored(saved)
		if (!router.state.location.pathname.endsWith('/templates/new')) return
		onMade?.(saved.id)
		await router.navigate({
			to: '/console/$projectId/templates/$templateId',
			params: { projectId: project.id, templateId: saved.id },
			replace: true,
			resetScroll: false,
			ignoreBlocker: true,
		})
	}

	return {
		template,
		save() {
			if (!isPending && (writing.isChanged || !template)) mutate({})
		},
		saveOver: () => mutate({ isOver: true }),
		saveNow: () => mutateAsync({}),
		isSaving: isPending,
		error,
	}
}
