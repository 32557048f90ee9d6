import { EllipsisVertical } from 'lucide-react'
import { useState } from 'react'
import type { WebhookEndpoint } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/fault.tsx'
import { Menu } from '../parts/menu.tsx'
import { Soft } from '../parts/page.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import { ReplayDialog } from './replay-dialog.tsx'
import { SecretOnce } from './secret-once.tsx'
import { TestDialog } from './test-dialog.tsx'
import { useEndpointActs } from './use-endpoint-acts.tsx'

interface Props {
	endpoint: WebhookEndpoint
	onReplay: (jobId: string) => void
}

export function EndpointActs({ endpoint, onReplay }: Props) {
	const { project } = useProject()
	const acts = useEndpointActs(endpoint)
	const [open, setOpen] = useState<'test' | 'replay'>()
	const close = () => setOpen(undefined)
	if (!mayAct(project, 'ADMIN')) return <Soft>Only admins and the owner change endpoints.</Soft>
	return (
		<>
			<Fault error={acts.error} />
			<Button onClick={() => setOpen('test')}>Send a test</Button>
			{endpoint.enabled ? (
				<Button onClick={() => setOpen('replay')}>Replay</Button>
			) : (
				<Button kind="primary" isBusy={acts.isPending} onClick={acts.enable}>
					Enable
				</Button>
			)}
			<Menu
				trigger={<Button icon={<EllipsisVertical size={16} aria-label="More" />} />}
				items={[
					{ name: 'Edit', act: acts.edit },
					{ name: 'New secret', act: acts.rotate },
					...(endpoint.enabled ? [{ name: 'Disable', act: acts.disable }] : []),
					null,
					{ name: 'Delete', act: acts.remove, isDestructive: true },
				]}
			/>
			<TestDialog endpoint={endpoint} isOpen={open === 'test'} onClose={close} />
			<ReplayDialog
				endpoint={endpoint}
				isOpen={open === 'replay'}
				onClose={close}
				onReplay={onReplay}
			/>
			<Dialog title="The new secret" isOpen={acts.secret !== undefined} onClose={acts.forget}>
				{acts.secret && <SecretOnce secret={acts.secret} />}
				<p>For 24 hours, requests are also signed with the previous secret.</p>
			</Dialog>
		</>
	)
}
