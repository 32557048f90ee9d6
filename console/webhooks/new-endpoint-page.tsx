import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, Link, useNavigate } from '@tanstack/react-router'
import type { CreateWebhookEndpointInput } from '../../client/index.ts'
import { buttonClass } from '../parts/button.tsx'
import { Page, Row, Stack } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'
import { EndpointForm } from './endpoint-form.tsx'
import { SecretOnce } from './secret-once.tsx'
import { webhooksKey } from './webhook-queries.ts'

export const page = createLazyRoute('/console/$projectId/webhooks/new')({
	component: NewEndpointPage,
})

function NewEndpointPage() {
	const current = useProject()
	const { project, api } = current
	const queries = useQueryClient()
	const navigate = useNavigate()
	const create = useMutation({
		mutationFn: (input: CreateWebhookEndpointInput) => api.webhookEndpoints.create(input),
		onSuccess: () => queries.invalidateQueries({ queryKey: webhooksKey(current) }),
		// The secret does not outlive this page.
		gcTime: 0,
	})
	const params = { projectId: project.id }
	const back = (
		<Link to="/console/$projectId/webhooks" params={params}>
			Webhooks
		</Link>
	)
	const made = create.data
	if (made)
		return (
			<Page title="The endpoint is ready" back={back}>
				<Stack>
					<SecretOnce secret={made.secret} />
					<Row>
						<Link
							to="/console/$projectId/webhooks/$endpointId"
							params={{ ...params, endpointId: made.id }}
							className={buttonClass('primary')}
						>
							I have kept the secret
						</Link>
					</Row>
				</Stack>
			</Page>
		)
	return (
		<Page title="New endpoint" back={back}>
			<EndpointForm
				act="Create the endpoint"
				isBusy={create.isPending}
				error={create.error}
				cancel={() => void navigate({ to: '/console/$projectId/webhooks', params })}
				onSubmit={(input) => create.mutate(input)}
			/>
		</Page>
	)
}
