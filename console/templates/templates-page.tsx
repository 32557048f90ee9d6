import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useCallback } from 'react'
import { liveMs } from '../client.ts'
import { types } from '../editor/content.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { Filter } from '../parts/filter.tsx'
import { Page, Row, Stack } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { usePagedList } from '../parts/use-paged-list.ts'
import { useProject } from '../shell/projects.ts'
import { Gallery, GalleryWaiting } from './gallery.tsx'
import styles from './gallery.module.css'
import type { TemplateFilters } from './template-filters.ts'

export const page = createLazyRoute('/console/$projectId/templates')({ component: TemplatesPage })
const route = getRouteApi('/console/$projectId/templates')

function TemplatesPage() {
	const { project, api } = useProject()
	const { search, type } = route.useSearch()
	const { list } = usePagedList({
		key: [project.id, 'templates', 'list', search, type],
		load: (number) =>
			api.templates.list({ page: number, pageSize: 24, search, type, sort: 'updatedAt' }),
		liveMs: () => liveMs.slow,
	})
	const { rows, error, retry, more, isLoadingMore } = list
	return (
		<Page title="Templates" actions={<NewTemplate />}>
			<Stack>
				<Filters />
				<Fault error={error} retry={retry} />
				{rows ? (
					rows.length > 0 ? (
						<Gallery templates={rows} />
					) : search || type ? (
						<NoneFound />
					) : (
						<None />
					)
				) : (
					!error && <GalleryWaiting />
				)}
				{more && (
					<div className={styles.more}>
						<Button onClick={more} isBusy={isLoadingMore}>
							Show more
						</Button>
					</div>
				)}
			</Stack>
		</Page>
	)
}

function NewTemplate() {
	const { project } = useProject()
	return (
		<Link
			to="/console/$projectId/templates/$templateId"
			params={{ projectId: project.id, templateId: 'new' }}
			className={buttonClass('primary')}
		>
			<Plus size={15} aria-hidden />
			New template
		</Link>
	)
}

function Filters() {
	const { search, type } = route.useSearch()
	const navigate = route.useNavigate()
	const set = useCallback(
		(changed: TemplateFilters) =>
			void navigate({ search: (old) => ({ ...old, ...changed }), replace: true }),
		[navigate],
	)
	const find = useCallback((text: string) => set({ search: text || undefined }), [set])
	return (
		<Row>
			<SearchBox name="Name, note or subject" value={search ?? ''} onChange={find} />
			<Filter
				name="Type"
				all="Any type"
				value={type}
				options={types}
				onChange={(value) => set({ type: types.find((one) => one.value === value)?.value })}
			/>
		</Row>
	)
}

const NoneFound = () => (
	<Empty title="No template is like that">
		<p>The search looks at names, notes and subjects. Try fewer letters, or any type.</p>
	</Empty>
)

const None = () => (
	<Empty title="No templates yet" action={<NewTemplate />}>
		<p>
			A template is a mail with variables. Your application sends it by its id, campaigns start from
			it, and workflows send it as a step.
		</p>
	</Empty>
)
