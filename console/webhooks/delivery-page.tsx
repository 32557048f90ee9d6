import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { WebhookDeliveryDetail } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Status } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { useConfirm } from '../parts/confirm.tsx'
import { Code } from '../parts/copy.tsx'
import { Fault } from '../parts/fault.tsx'
import { Columns, Page, Section, Stack } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import { Attempts } from './attempts.tsx'
import { DeliveryFacts } from './delivery-facts.tsx'
import { indented } from './indented.ts'
import { webhooksKey } from './webhook-queries.ts'

export const page = createLazyRoute(
	'/console/$projectId/webhooks/$endpointId/deliveries/$deliveryId',
)({
	component: DeliveryPage,
})
const route = getRouteApi('/console/$projectId/webhooks/$endpointId/deliveries/$deliveryId')

function DeliveryPage() {
	const { endpointId, deliveryId } = route.useParams()
	const current = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [...webhooksKey(current), 'deliveries', deliveryId],
		queryFn: () => current.api.webhookDeliveries.get(deliveryId),
		refetchInterval: ({ state }) => (state.data?.status === 'PENDING' ? liveMs.normal : false),
	})
	const back = (
		<Link
			to="/console/$projectId/webhooks/$endpointId"
			params={{ projectId: current.project.id, endpointId }}
		>
			Deliveries
		</Link>
	)
	if (!data)
		return (
			<Page title="Delivery" back={back}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
			</Page>
		)
	return <Delivery delivery={data} back={back} />
}

function Delivery({ delivery, back }: { delivery: WebhookDeliveryDetail; back: ReactNode }) {
	const { project } = useProject()
	const { error, isPending, retry } = useRetry(delivery)
	return (
		<Page
			title={delivery.type}
			back={back}
			about={<Status status={delivery.status} />}
			actions={
				mayAct(project, 'ADMIN') && (
					<Button isBusy={isPending} onClick={retry}>
						Deliver now
					</Button>
				)
			}
		>
			<Stack>
				<Fault error={error} />
				<Columns>
					<div>
						<Section title="Event">
							<DeliveryFacts delivery={delivery} />
						</Section>
						<Section title="Tries">
							<Attempts delivery={delivery} />
						</Section>
					</div>
					<Section title="Payload">
						{delivery.payload === null ? (
							<p>The payload was removed, because the person whom it names was erased.</p>
						) : (
							<Code name="payload" text={indented(delivery.payload)} />
						)}
					</Section>
				</Columns>
			</Stack>
		</Page>
	)
}

function useRetry({ id, status }: WebhookDeliveryDetail) {
	const current = useProject()
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const { mutate, isPending, error } = useMutation({
		mutationFn: () => current.api.webhookDeliveries.retry(id),
		onSuccess: () => {
			toast({ title: 'The event is on its way' })
			return queries.invalidateQueries({ queryKey: webhooksKey(current) })
		},
	})
	async function retry() {
		const isSure =
			status !== 'DELIVERED' ||
			(await confirm({
				title: 'Deliver this event again?',
				body: 'The endpoint has accepted it before and gets it a second time, with the same webhook-id.',
				act: 'Deliver it again',
			}))
		if (isSure) mutate()
	}
	return { error, isPending, retry: () => void retry() }
}
