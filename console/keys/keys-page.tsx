import { createLazyRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Fault } from '../parts/fault.tsx'
import { Facts } from '../parts/figures.tsx'
import { Row, Section, Stack } from '../parts/page.tsx'
import { useAct } from '../parts/use-act.ts'
import { mayAct, projectsQuery, useProject } from '../shell/projects.ts'
import { forgetFreshKey } from '../start/fresh-keys.ts'
import { ShownOnce } from './shown-once.tsx'
import { WebhookSecret } from './webhook-secret.tsx'

export const page = createLazyRoute('/console/$projectId/settings/keys')({ component: KeysPage })

function KeysPage() {
	const { project } = useProject()
	return (
		<Stack>
			<Keys key={project.id} />
			{mayAct(project, 'ADMIN') && (
				<Section title="Secret of webhook steps">
					<WebhookSecret key={project.id} />
				</Section>
			)}
		</Stack>
	)
}

function Keys() {
	const { project, api } = useProject()
	const { run, error, isBusy } = useAct(projectsQuery.queryKey)
	// Only here, so that it is gone when the page is left.
	const [fresh, setFresh] = useState<string | null>(null)
	const replace = () =>
		run({
			question: {
				title: 'Replace both keys?',
				body: (
					<>
						<p>
							The public key <code>{project.public}</code> and the secret key{' '}
							<code>{project.secret}</code> stop working at once, everywhere.
						</p>
						<p>
							Applications and pages that use them are refused with 401 until they have the new
							keys. Mail that was accepted before is still sent.
						</p>
					</>
				),
				act: 'Replace both keys',
				isDestructive: true,
			},
			act: async () => {
				const { secret } = await api.projects.regenerateKeys(project.id)
				forgetFreshKey(project.id)
				setFresh(secret)
			},
			said: 'The keys are replaced',
		})
	return (
		<>
			<p>
				Applications use these keys. The public key may be part of a page or an app: it can only
				track events. The secret key may do everything else, and belongs on your servers only.
			</p>
			{fresh && (
				<ShownOnce name="secret key" secret={fresh} onKept={() => setFresh(null)}>
					This is the new secret key. It is shown only now, because we store no more than a digest
					of it.
				</ShownOnce>
			)}
			<Facts
				facts={[
					['Public key', <Copyable text={project.public} />],
					['Secret key', <code>{project.secret}</code>],
				]}
			/>
			<Fault error={error} />
			{mayAct(project, 'ADMIN') ? (
				<Row>
					<Button kind="danger" isBusy={isBusy} onClick={replace}>
						Replace both keys
					</Button>
				</Row>
			) : (
				<p>Only administrators replace the keys.</p>
			)}
		</>
	)
}
