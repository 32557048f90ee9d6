import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type Segment, TempostError } from '../../client/index.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { useConfirm } from '../parts/confirm.tsx'
import { counted } from '../parts/counted.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { Uses, usesIn } from './uses.tsx'
import { useForgetSegments } from './use-segment.ts'

export function SegmentActs({ segment }: { segment: Segment }) {
	const { project } = useProject()
	const params = { projectId: project.id, segmentId: segment.id }
	return (
		<>
			<Link
				to="/console/$projectId/contacts"
				params={{ projectId: project.id }}
				search={{ segment: segment.id }}
				className={buttonClass()}
			>
				Show among contacts
			</Link>
			{segment.type === 'DYNAMIC' && <Recount segment={segment} />}
			<Link
				to="/console/$projectId/segments/$segmentId/edit"
				params={params}
				className={buttonClass()}
			>
				Edit
			</Link>
			<Delete segment={segment} />
		</>
	)
}

/** A tracked segment is computed, which emits events; another one is only counted. */
function Recount({ segment }: { segment: Segment }) {
	const { api } = useProject()
	const toast = useToast()
	const forget = useForgetSegments()
	const { trackMembership: isTracked, id } = segment
	const { mutate, error, isPending } = useMutation({
		mutationFn: async () => {
			if (!isTracked) {
				const { memberCount } = await api.segments.refresh(id)
				return counted(memberCount, 'contact')
			}
			const { added, removed, total } = await api.segments.compute(id)
			return `${counted(total, 'contact')}: ${formatCount(added)} joined, ${formatCount(removed)} left`
		},
		onSuccess: (title) => {
			toast({ title })
			return forget()
		},
	})
	return (
		<>
			<Fault error={error} />
			<Button onClick={() => mutate()} isBusy={isPending}>
				{isTracked ? 'Compute now' : 'Count again'}
			</Button>
		</>
	)
}

function Delete({ segment }: { segment: Segment }) {
	const { project, api } = useProject()
	const confirm = useConfirm()
	const toast = useToast()
	const navigate = useNavigate()
	const forget = useForgetSegments()
	const { mutate, error, reset, isPending } = useMutation({
		mutationFn: () => api.segments.delete(segment.id),
		onSuccess: async () => {
			toast({ title: `The segment ${segment.name} is deleted` })
			await navigate({ to: '/console/$projectId/segments', params: { projectId: project.id } })
			await forget()
		},
	})
	async function ask() {
		const isSure = await confirm({
			title: `Delete the segment ${segment.name}?`,
			body: `The contacts in it (${formatCount(segment.memberCount)}) stay. A segment that a campaign, a workflow or another segment uses is not deleted. This cannot be undone.`,
			act: 'Delete the segment',
			isDestructive: true,
		})
		if (isSure) mutate()
	}
	const uses = error instanceof TempostError ? usesIn(error.details) : undefined
	return (
		<>
			<Button kind="danger" onClick={() => void ask()} isBusy={isPending}>
				Delete
			</Button>
			<Dialog title="The segment is not deleted" isOpen={error !== null} onClose={reset}>
				<Fault error={error} />
				{uses && <Uses uses={uses} />}
			</Dialog>
		</>
	)
}
