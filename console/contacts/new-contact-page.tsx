import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, useNavigate } from '@tanstack/react-router'
import { Page } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { ContactForm, type ContactInput } from './contact-form.tsx'
import { ToContacts } from './contact-links.tsx'
import { changeBetween } from './data-rows.ts'

export const page = createLazyRoute('/console/$projectId/contacts/new')({
	component: NewContactPage,
})

function NewContactPage() {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const navigate = useNavigate()
	const toast = useToast()
	const params = { projectId: project.id }
	const { mutate, error, isPending } = useMutation({
		mutationFn: ({ email, subscribed, rows }: ContactInput) =>
			api.contacts.upsert({ email, subscribed, data: changeBetween({}, rows) }),
		onSuccess: async ({ id, email, _meta }) => {
			toast({
				title: _meta.isNew ? `${email} is added` : `${email} was a contact already, and is updated`,
			})
			await queries.invalidateQueries({ queryKey: [project.id, 'contacts'] })
			await navigate({
				to: '/console/$projectId/contacts/$contactId',
				params: { ...params, contactId: id },
			})
		},
	})
	return (
		<Page title="New contact" back={<ToContacts />}>
			<ContactForm
				act="Add the contact"
				onSubmit={mutate}
				isBusy={isPending}
				error={error}
				cancel={() => void navigate({ to: '/console/$projectId/contacts', params })}
			/>
		</Page>
	)
}
