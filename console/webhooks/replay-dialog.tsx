import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type ReplayWebhooksInput, TempostError, type WebhookEndpoint } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Checkbox, Select, TextField } from '../parts/field.tsx'
import { Form, type FormValues } from '../parts/form.tsx'
import { useProject } from '../shell/projects.ts'
import { EventChoice } from './event-choice.tsx'
import { idOf } from './delivery-filters.ts'
import { ReplayCount } from './replay-count.tsx'
import { webhooksKey } from './webhook-queries.ts'

interface Props {
	endpoint: WebhookEndpoint
	isOpen: boolean
	onClose: () => void
	onReplay: (jobId: string) => void
}

export const ReplayDialog = (props: Props) => (
	<Dialog title="Replay deliveries" isOpen={props.isOpen} onClose={props.onClose} isWide>
		<ReplayForm {...props} />
	</Dialog>
)

const dayMs = 86_400_000

function ReplayForm({ endpoint, onClose, onReplay }: Props) {
	const current = useProject()
	const queries = useQueryClient()
	const [from, setFrom] = useState(() => localTime(Date.now() - dayMs))
	const [to, setTo] = useState(() => localTime(Date.now() + 60_000))
	const [only, setOnly] = useState<'failed' | 'all'>('failed')
	const [types, setTypes] = useState<string[]>()
	const { mutate, isPending, error } = useMutation({
		mutationFn: (input: ReplayWebhooksInput) =>
			current.api.webhookEndpoints.replay(endpoint.id, input),
		onSuccess: async ({ jobId }) => {
			await queries.invalidateQueries({ queryKey: webhooksKey(current) })
			onClose()
			onReplay(jobId)
		},
	})
	const running = error instanceof TempostError ? idOf(error.details['jobId']) : undefined
	const submit = (_values: FormValues) =>
		mutate({ from: moment(from), to: moment(to), only, types })
	return (
		<Form act="Replay" isBusy={isPending} error={error} cancel={onClose} onSubmit={submit}>
			<p>
				Deliveries of the period are made again, with the same id and the same body. They are kept
				for 30 days.
			</p>
			<TextField
				name="from"
				label="From"
				type="datetime-local"
				value={from}
				error={error}
				onChange={({ target }) => setFrom(target.value)}
			/>
			<TextField
				name="to"
				label="To"
				type="datetime-local"
				hint="In your time zone"
				value={to}
				error={error}
				onChange={({ target }) => setTo(target.value)}
			/>
			<Select
				name="only"
				label="Deliveries"
				options={[
					{ value: 'failed', name: 'Only those that were given up or kept' },
					{ value: 'all', name: 'All, also those that were delivered' },
				]}
				value={only}
				onChange={({ target }) => setOnly(target.value === 'all' ? 'all' : 'failed')}
			/>
			<Checkbox
				label="Only some types"
				checked={types !== undefined}
				onChange={({ target }) => setTypes(target.checked ? [] : undefined)}
			/>
			{types ? (
				<EventChoice name="types" label="Types" events={types} onChange={setTypes} error={error} />
			) : (
				<ReplayCount endpointId={endpoint.id} from={from} to={to} only={only} />
			)}
			{running && (
				<Button
					onClick={() => {
						onClose()
						onReplay(running)
					}}
				>
					Show the replay that is under way
				</Button>
			)}
		</Form>
	)
}

/** In the reader's zone, as the browser's field for times takes it. */
function localTime(at: number) {
	const offset = new Date(at).getTimezoneOffset() * 60_000
	return new Date(at - offset).toISOString().slice(0, 16)
}

/** The API says what is wrong with a time that was left empty. */
const moment = (local: string) => (local === '' ? '' : new Date(local).toISOString())
