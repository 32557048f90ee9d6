import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { UpdateWebhookEndpointInput, WebhookEndpoint } from '../../client/index.ts'
import { changesOf } from '../parts/changes-of.ts'
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
				<Edit
					endpoint={data}
					isBusy={save.isPending}
					error={save.error}
					cancel={() => void leave()}
					onSave={save.mutate}
				/>
			) : error ? (
				<Fault error={error} retry={() => void refetch()} />
			) : (
				<Waiting />
			)}
		</Page>
	)
}

interface EditProps {
	endpoint: WebhookEndpoint
	isBusy: boolean
	error: unknown
	cancel: () => void
	onSave: (input: UpdateWebhookEndpointInput) => void
}

function Edit({ endpoint, onSave, ...form }: EditProps) {
	const [opened] = useState(endpoint)
	return (
		<EndpointForm
			act="Save"
			endpoint={opened}
			{...form}
			onSubmit={(input) => onSave(changesOf(opened, input))}
		/>
	)
}
