import { useState } from 'react'
import type { CreateWebhookEndpointInput, WebhookEndpoint } from '../../client/index.ts'
import { Checkbox, TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { EventChoice } from './event-choice.tsx'

interface Props {
	act: string
	/** The values to begin with. */
	endpoint?: WebhookEndpoint
	isBusy: boolean
	error: unknown
	cancel: () => void
	onSubmit: (input: CreateWebhookEndpointInput) => void
}

/** The settings of an endpoint. */
export function EndpointForm({ endpoint, onSubmit, ...form }: Props) {
	const [events, setEvents] = useState(endpoint?.events ?? [])
	return (
		<Form
			{...form}
			isLong
			onSubmit={(values) =>
				onSubmit({
					url: values.text('url'),
					events,
					description: values.text('description') || null,
					ordering: values.isChecked('ordering') ? 'email' : 'none',
				})
			}
		>
			<TextField
				name="url"
				label="Address"
				type="url"
				placeholder="https://example.com/webhooks"
				hint="Each event is sent to it as a POST request. It must be public, unless the operator allows others."
				defaultValue={endpoint?.url}
				error={form.error}
				autoFocus={!endpoint}
			/>
			<TextField
				name="description"
				label="Description"
				hint="Optional, for people who read the list"
				defaultValue={endpoint?.description ?? ''}
				error={form.error}
			/>
			<EventChoice
				name="events"
				label="Events"
				events={events}
				onChange={setEvents}
				error={form.error}
			/>
			<Checkbox
				name="ordering"
				label="Keep the events of each mail in order"
				hint="The next event of a mail waits until the one before is delivered or given up. Other mails don’t wait."
				defaultChecked={endpoint?.ordering === 'email'}
			/>
		</Form>
	)
}
