import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Tempost } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/fault.tsx'
import { TextField } from '../parts/field.tsx'
import { Facts, formatCount } from '../parts/figures.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'

interface Props {
	title: string
	act: string
	isOpen: boolean
	onClose: () => void
	onAct: () => void
	isBusy: boolean
	error: unknown
	/** What becomes of the rest. */
	children: ReactNode
}

/** Says what will be deleted, and asks for the project's name: this can't be undone. */
export function RemovalDialog(props: Props) {
	return (
		<Dialog title={props.title} isOpen={props.isOpen} onClose={props.onClose}>
			<Question {...props} />
		</Dialog>
	)
}

function Question({ act, onClose, onAct, isBusy, error, children }: Props) {
	const { project } = useProject()
	const [typed, setTyped] = useState('')
	return (
		<Stack>
			<p>This deletes for ever, and cannot be undone:</p>
			<Contents />
			{children}
			<TextField
				name="name"
				label={`Type “${project.name}” to go on`}
				value={typed}
				onChange={(event) => setTyped(event.target.value)}
			/>
			<Fault error={error} />
			<Row>
				<Button
					kind="danger"
					disabled={typed.trim() !== project.name.trim()}
					isBusy={isBusy}
					onClick={onAct}
				>
					{act}
				</Button>
				<Button onClick={onClose}>Cancel</Button>
			</Row>
		</Stack>
	)
}

function Contents() {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'contents'],
		queryFn: () => contentsOf(api, project.id),
		staleTime: 0,
	})
	if (error) return <Fault error={error} retry={() => void refetch()} />
	if (!data) return <Waiting rows={8} />
	return <Facts facts={data.map(([name, count]) => [name, formatCount(count)])} />
}

async function contentsOf(api: Tempost, projectId: string): Promise<[string, number][]> {
	const one = { limit: 1 }
	const onePage = { pageSize: 1 }
	const [state, mails, segments, templates, campaigns, workflows, suppressions, endpoints] =
		await Promise.all([
			api.projects.setupState(projectId),
			api.emails.list(one),
			api.segments.list(),
			api.templates.list(onePage),
			api.campaigns.list(onePage),
			api.workflows.list(onePage),
			api.suppressions.list(one),
			api.webhookEndpoints.list(),
		])
	return [
		['Contacts', state.contactCount],
		['Mails in the ledger', mails.total],
		['Segments', segments.length],
		['Templates', templates.total],
		['Campaigns', campaigns.total],
		['Workflows', workflows.total],
		['Suppressed addresses', suppressions.total],
		['Webhook endpoints', endpoints.length],
	]
}
