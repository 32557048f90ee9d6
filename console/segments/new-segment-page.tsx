import { useMutation } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import { Page } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { SegmentForm, type SegmentInput } from './segment-form.tsx'
import { ToSegments } from './segment-links.tsx'
import { useForgetSegments } from './use-segment.ts'

export const page = createLazyRoute('/console/$projectId/segments/new')({
	component: NewSegmentPage,
})
const route = getRouteApi('/console/$projectId/segments/new')

function NewSegmentPage() {
	const { project, api } = useProject()
	const { condition } = route.useSearch()
	const navigate = route.useNavigate()
	const toast = useToast()
	const forget = useForgetSegments()
	const params = { projectId: project.id }
	const { mutate, error, isPending } = useMutation({
		mutationFn: ({ description, ...rest }: SegmentInput) =>
			api.segments.create({ ...rest, ...(description !== null && { description }) }),
		onSuccess: async ({ id, name }) => {
			toast({ title: `The segment ${name} is created` })
			await forget()
			await navigate({
				to: '/console/$projectId/segments/$segmentId',
				params: { ...params, segmentId: id },
			})
		},
	})
	return (
		<Page title="New segment" back={<ToSegments />}>
			<SegmentForm
				act="Create the segment"
				{...(condition && { condition })}
				isBusy={isPending}
				error={error}
				onSubmit={mutate}
				cancel={() => void navigate({ to: '/console/$projectId/segments', params })}
			/>
		</Page>
	)
}
