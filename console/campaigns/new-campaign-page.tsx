import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { firstContent } from '../editor/content.ts'
import { useSenders } from '../editor/content-fields.tsx'
import { Fault } from '../parts/fault.tsx'
import { Select, TextField } from '../parts/field.tsx'
import { Form, type FormValues } from '../parts/form.tsx'
import { Page } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { CampaignsLink } from './campaigns-link.tsx'

export const page = createLazyRoute('/console/$projectId/campaigns/new')({
	component: NewCampaignPage,
})
const route = getRouteApi('/console/$projectId/campaigns/new')

/** The name, and the mail to begin with. The draft is then written on its own page. */
function NewCampaignPage() {
	const { template } = route.useSearch()
	const { data: templates, error, refetch } = useTemplates(template)
	const { senders, hint, isLoading } = useSenders()
	const [chosen, setChosen] = useState(template ?? '')
	const { mutate, isPending, error: fault } = useCreating()
	const list = useId()
	return (
		<Page title="New campaign" back={<CampaignsLink />}>
			{!templates || isLoading ? (
				error ? (
					<Fault error={error} retry={() => void refetch()} />
				) : (
					<Waiting />
				)
			) : (
				<Form act="Write it" onSubmit={mutate} isBusy={isPending} error={fault}>
					<TextField
						name="name"
						label="Name"
						hint="Readers do not see it"
						error={fault}
						autoFocus
					/>
					<Select
						name="template"
						label="Begin with"
						value={chosen}
						options={[
							{ value: '', name: 'A short greeting' },
							...templates.map(({ id, name }) => ({ value: id, name: `Template: ${name}` })),
						]}
						hint="The mail of a template is copied. Changing it here does not change the template."
						error={fault}
						onChange={({ target }) => setChosen(target.value)}
					/>
					{chosen === '' && (
						<>
							<TextField
								name="from"
								label="From"
								type="email"
								list={list}
								defaultValue={senders[0] ?? ''}
								hint={hint}
								error={fault}
							/>
							<datalist id={list}>
								{senders.map((sender) => (
									<option key={sender} value={sender} />
								))}
							</datalist>
						</>
					)}
				</Form>
			)}
		</Page>
	)
}

/** The first hundred by name, and the one that was chosen elsewhere. */
function useTemplates(chosen: string | undefined) {
	const { project, api } = useProject()
	return useQuery({
		queryKey: [project.id, 'templates', 'names', chosen],
		queryFn: async () => {
			const { data } = await api.templates.list({ pageSize: 100, sort: 'name', dir: 'asc' })
			const isListed = !chosen || data.some(({ id }) => id === chosen)
			const all = isListed ? data : [await api.templates.get(chosen), ...data]
			return all.map(({ id, name }) => ({ id, name }))
		},
	})
}

function useCreating() {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const navigate = route.useNavigate()
	return useMutation({
		mutationFn: (values: FormValues) => {
			const template = values.optional('template')
			const { subject, body } = firstContent
			return api.campaigns.create({
				name: values.text('name'),
				audienceType: 'ALL',
				...(template ? { template } : { subject, body, from: values.text('from') }),
			})
		},
		onSuccess: async ({ id }) => {
			await queries.invalidateQueries({ queryKey: [project.id, 'campaigns', 'list'] })
			await navigate({
				to: '/console/$projectId/campaigns/$campaignId',
				params: { projectId: project.id, campaignId: id },
				search: {},
				replace: true,
			})
		},
	})
}
