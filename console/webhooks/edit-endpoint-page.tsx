import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import type { UpdateWebhookEndpointInput } from '../../client/index.ts'
import { Fault } from '../parts/fault.tsx'
import { Page } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { EndpointForm } from './endpoint-form.tsx'
import { endpointQuery, webhooksKey } from './webhook-queries.ts'

export const page = createLazyRoute('/console/$projectId/webhooks/$endpointId/edit')({
	component: EditEndpointPage,
})
const route = getRouteApi('/console/$projectId/webhooks/$endpointId/edit')

function EditEndpointPage() {
	const { endpointId } = route.useParams()
	const navigate = route.useNavigate()
	const current = useProject()
	const queries = useQueryClient()
	const toast = useToast()
	const { data, error, refetch } = useQuery({
		...endpointQuery(current, endpointId),
		// What is being written is not replaced.
		refetchInterval: false,
	})
	const params = { projectId: current.project.id, endpointId }
	const leave = () => navigate({ to: '/console/$projectId/webhooks/$endpointId', params })
	const save = useMutation({
		mutationFn: (input: UpdateWebhookEndpointInput) =>
			current.api.webhookEndpoints.update(endpointId, input),
		onSuccess: async () => {
			await queries.invalidateQueries({ queryKey: webhooksKey(current) })
			await leave()
			toast({ title: 'The endpoint is changed' })
		},
	})
	return (
		<Page
			title="Edit the endpoint"
			back={
				<Link to="/console/$projectId/webhooks/$endpointId" params={params}>
					{data?.url ?? 'Endpoint'}
				</Link>
			}
		>
			{data ? (
				<EndpointForm
					act="Save"
					endpoint={data}
					isBusy={save.isPending}
					error={save.error}
					cancel={() => void leave()}
					onSubmit={(input) => save.mutate(input)}
				/>
			) : error ? (
				<Fault error={error} retry={() => void refetch()} />
			) : (
				<Waiting />
			)}
		</Page>
	)
}
