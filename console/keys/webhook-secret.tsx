import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { useAct } from '../parts/use-act.ts'
import { useProject } from '../shell/projects.ts'
import { ShownOnce } from './shown-once.tsx'

/** It is asked for only when its reader wants it, and kept nowhere but here. */
export function WebhookSecret() {
	const { project, api } = useProject()
	const { run, error, isBusy } = useAct()
	const [secret, setSecret] = useState<string | null>(null)
	return (
		<Stack>
			<p>
				WEBHOOK steps of workflows sign their requests with it. Your server verifies the header{' '}
				<code>webhook-signature</code>, so that nobody else can call it. The endpoints on the page
				“Webhooks” have secrets of their own.
			</p>
			{secret && (
				<ShownOnce name="webhook secret" secret={secret} onKept={() => setSecret(null)}>
					Keep it as secret as the secret key.
				</ShownOnce>
			)}
			<Fault error={error} />
			<Row>
				<Button
					isBusy={isBusy}
					onClick={() =>
						run({
							act: async () => setSecret((await api.projects.getWebhookSecret(project.id)).secret),
						})
					}
				>
					Show the secret
				</Button>
				<Button
					isBusy={isBusy}
					onClick={() =>
						run({
							question: {
								title: 'Change the secret of webhook steps?',
								body: 'For a day requests are signed with both, the old and the new secret. After that, servers that know only the old one refuse them.',
								act: 'Change the secret',
							},
							act: async () =>
								setSecret((await api.projects.regenerateWebhookSecret(project.id)).secret),
							said: 'The secret is changed',
						})
					}
				>
					Change the secret
				</Button>
			</Row>
		</Stack>
	)
}
