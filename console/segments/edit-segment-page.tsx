import { useMutation } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, useNavigate } from '@tanstack/react-router'
import type { ChangedSegment, Segment, SegmentWarning } from '../../client/index.ts'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { changesOf } from '../parts/changes-of.ts'
import { Fault } from '../parts/fault.tsx'
import { Card, Page, Stack } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { SegmentForm, type SegmentInput } from './segment-form.tsx'
import { ToSegment } from './segment-links.tsx'
import { useForgetSegments, useSegment } from './use-segment.ts'

export const page = createLazyRoute('/console/$projectId/segments/$segmentId/edit')({
	component: EditSegmentPage,
})
const route = getRouteApi('/console/$projectId/segments/$segmentId/edit')

function EditSegmentPage() {
	const { segmentId } = route.useParams()
	const { data: segment, error, refetch } = useSegment(segmentId)
	if (segment) return <Edit key={segment.id} segment={segment} />
	return (
		<Page title="Edit segment">
			{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
		</Page>
	)
}

function Edit({ segment }: { segment: Segment }) {
	const [opened] = useState(segment)
	const { project, api } = useProject()
	const navigate = useNavigate()
	const toast = useToast()
	const forget = useForgetSegments()
	const leave = () =>
		navigate({
			to: '/console/$projectId/segments/$segmentId',
			params: { projectId: project.id, segmentId: segment.id },
		})
	const { mutate, error, isPending, data } = useMutation({
		mutationFn: ({ type: _fixed, ...input }: SegmentInput) =>
			api.segments.update(segment.id, changesOf(opened, input)),
		onSuccess: async ({ warnings }: ChangedSegment) => {
			await forget()
			toast({ title: 'The segment is saved' })
			if (warnings.length === 0) await leave()
		},
	})
	return (
		<Page title={`Edit ${segment.name}`} back={<ToSegment segment={segment} />}>
			{data && data.warnings.length > 0 ? (
				<Warnings warnings={data.warnings} onDone={() => void leave()} />
			) : (
				<SegmentForm
					segment={segment}
					act="Save"
					isBusy={isPending}
					error={error}
					onSubmit={mutate}
					cancel={() => void leave()}
				/>
			)}
		</Page>
	)
}

/** Workflows that name events which the segment no longer emits. */
const Warnings = ({ warnings, onDone }: { warnings: SegmentWarning[]; onDone: () => void }) => (
	<Card>
		<Stack>
			<h2>The segment is saved. These workflows need your attention</h2>
			<ul>
				{warnings.map(({ workflowId, message }) => (
					<li key={workflowId}>{message}</li>
				))}
			</ul>
			<Button onClick={onDone}>To the segment</Button>
		</Stack>
	</Card>
)
