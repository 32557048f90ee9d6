import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, useNavigate } from '@tanstack/react-router'
import { useConfirm } from '../parts/confirm.tsx'
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
	const confirm = useConfirm()
	const params = { projectId: project.id }
	const { mutate, error, isPending } = useMutation({
		mutationFn: async (input: ContactInput) => {
			const { email, subscribed, rows } = input
			if (!(await isNewOrMeant(input))) throw new Error('Nothing was saved.')
			return api.contacts.upsert({ email, subscribed, data: changeBetween({}, rows) })
		},
		onSuccess: async ({ id, email, _meta }) => {
			toast({ title: `${email} is ${_meta.isNew ? 'added' : 'updated'}` })
			await queries.invalidateQueries({ queryKey: [project.id, 'contacts'] })
			await navigate({
				to: '/console/$projectId/contacts/$contactId',
				params: { ...params, contactId: id },
			})
		},
	})
	/** The API would update a contact with this address without a word. */
	async function isNewOrMeant({ email, subscribed }: ContactInput) {
		const { found } = await api.contacts.lookUp({ emails: [email] })
		if (found.length === 0) return true
		return confirm({
			title: `${email} is a contact already`,
			body: `Its data will be updated, and it will be ${subscribed ? 'subscribed' : 'unsubscribed'}.`,
			act: 'Update the contact',
		})
	}
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
