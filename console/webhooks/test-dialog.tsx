import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { WebhookEndpoint, WebhookTest } from '../../client/index.ts'
import { Badge } from '../parts/badge.tsx'
import { Code } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Select } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'
import { eventTypes, trackedNames, trackedPrefix } from './event-types.ts'
import { indented } from './indented.ts'
import { duration, outcomeInWords } from './outcome.ts'
import { webhooksKey } from './webhook-queries.ts'

interface Props {
	endpoint: WebhookEndpoint
	isOpen: boolean
	onClose: () => void
}

/** Sends a sample, and shows the answer of the endpoint. */
export function TestDialog({ endpoint, isOpen, onClose }: Props) {
	const current = useProject()
	const queries = useQueryClient()
	const { mutate, data, isPending, error, reset } = useMutation({
		mutationFn: (type: string) => current.api.webhookEndpoints.test(endpoint.id, { type }),
		// After a success, waiting events are delivered.
		onSuccess: () => queries.invalidateQueries({ queryKey: webhooksKey(current) }),
	})
	const close = () => {
		reset()
		onClose()
	}
	return (
		<Dialog title="Send a test" isOpen={isOpen} onClose={close} isWide>
			<Stack>
				<Form
					act={data ? 'Send another' : 'Send the sample'}
					isBusy={isPending}
					error={error}
					onSubmit={(values) => mutate(values.text('type'))}
				>
					<Select
						name="type"
						label="Type"
						options={typesFor(endpoint)}
						error={error}
						hint="A sample of this type is sent now, signed as usual. It is not kept."
					/>
				</Form>
				{data && <Answer test={data} />}
			</Stack>
		</Dialog>
	)
}

/** Those that it gets come first. */
function typesFor({ events }: WebhookEndpoint) {
	const tracked = trackedNames(events).map((name) => trackedPrefix + name)
	const all = [...tracked, ...eventTypes.map(({ type }) => type), `${trackedPrefix}example`]
	const gets = (type: string) =>
		events.some((one) => one === type || (one.endsWith('*') && type.startsWith(one.slice(0, -1))))
	return all
		.toSorted((one, other) => Number(gets(other)) - Number(gets(one)))
		.map((type) => ({ value: type, name: type }))
}

const Answer = ({ test }: { test: WebhookTest }) => (
	<div role="status">
		<Stack>
			<Row>
				<Badge tone={test.success ? 'good' : 'bad'}>
					{test.success ? 'Accepted' : 'Not accepted'}
				</Badge>
				{test.status === null
					? `${outcomeInWords(test)}, after ${duration(test.durationMs)}`
					: `It answered ${outcomeInWords(test)}`}
			</Row>
			{test.status !== null && test.error && <p>{test.error}</p>}
			{!test.success && test.status !== null && (
				<p>An endpoint accepts an event with any status from 200 to 299.</p>
			)}
			{test.answer && (
				<div>
					<h3>Its answer</h3>
					<Code name="answer" text={test.answer} />
				</div>
			)}
			<div>
				<h3>The request</h3>
				<Code name="request body" text={indented(test.payload)} />
			</div>
		</Stack>
	</div>
)
