import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useProject } from '../shell/projects.ts'

export function AddDomain({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const navigate = useNavigate()
	const { mutate, isPending, error, reset } = useMutation({
		mutationFn: (domain: string) => api.domains.create({ domain }),
		onSuccess: async ({ id }) => {
			await Promise.all([
				queries.invalidateQueries({ queryKey: [project.id, 'domains'] }),
				queries.invalidateQueries({ queryKey: [project.id, 'setup'] }),
			])
			await navigate({
				to: '/console/$projectId/domains/$domainId',
				params: { projectId: project.id, domainId: id },
			})
		},
	})
	const close = () => {
		reset()
		onClose()
	}
	return (
		<Dialog title="Add domain" isOpen={isOpen} onClose={close}>
			<Form
				act="Add domain"
				isBusy={isPending}
				error={error}
				cancel={close}
				onSubmit={(values) => mutate(values.text('domain'))}
			>
				<TextField
					name="domain"
					label="Domain"
					placeholder="example.com"
					inputMode="url"
					autoCapitalize="none"
					spellCheck={false}
					error={error}
					hint="The part after the @ of the addresses that you send from"
				/>
			</Form>
		</Dialog>
	)
}
