import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { WebhookReplay } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Status } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Card, Row, Stack } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import styles from './replay-progress.module.css'
import { webhooksKey } from './webhook-queries.ts'

interface Props {
	endpointId: string
	jobId: string
	onClose: () => void
}

const isUnderWay = (replay: WebhookReplay | undefined) =>
	replay?.state === 'waiting' || replay?.state === 'active'

/** A replay, until its reader closes it. */
export function ReplayProgress({ endpointId, jobId, onClose }: Props) {
	const current = useProject()
	const { webhookEndpoints } = current.api
	const queries = useQueryClient()
	const queryKey = [...webhooksKey(current), endpointId, 'replay', jobId]
	const { data, error } = useQuery({
		queryKey,
		queryFn: () => webhookEndpoints.getReplay(endpointId, jobId),
		refetchInterval: ({ state }) => (isUnderWay(state.data) ? liveMs.fast : false),
	})
	const cancel = useMutation({
		mutationFn: () => webhookEndpoints.cancelReplay(endpointId, jobId),
		onSettled: () => queries.invalidateQueries({ queryKey: webhooksKey(current) }),
	})
	return (
		<section aria-label="Replay">
			<Card>
				<Stack>
					<Fault error={error ?? cancel.error} />
					{data ? <Progress replay={data} /> : !error && <Waiting rows={2} />}
					<Row>
						{isUnderWay(data) && mayAct(current.project, 'ADMIN') && (
							<Button isBusy={cancel.isPending} onClick={() => cancel.mutate()}>
								Cancel the replay
							</Button>
						)}
						{!isUnderWay(data) && <Button onClick={onClose}>Close</Button>}
					</Row>
				</Stack>
			</Card>
		</section>
	)
}

const Progress = ({ replay }: { replay: WebhookReplay }) => (
	<>
		<Row>
			<h3>Replay</h3>
			<Status status={replay.state} />
		</Row>
		<p>
			{replay.only === 'all' ? 'All deliveries' : 'Deliveries that were given up or kept,'} from{' '}
			<Time at={replay.from} as="date" /> to <Time at={replay.to} as="date" />
		</p>
		{isUnderWay(replay) && (
			<progress
				className={styles.progress}
				value={replay.progress}
				max={100}
				aria-label="Progress of the replay"
			/>
		)}
		<p>
			{replay.replayed === 1
				? 'One delivery is made again.'
				: `${formatCount(replay.replayed)} deliveries are made again.`}{' '}
			{replay.state === 'completed' && 'The list below shows how they go.'}
			{replay.state === 'cancelled' && 'The others are not.'}
			{replay.failedReason}
		</p>
	</>
)
