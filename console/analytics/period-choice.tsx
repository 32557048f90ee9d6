import { useNavigate } from '@tanstack/react-router'
import { DayFilter, Filter } from '../parts/filter.tsx'
import { Row, Soft } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'
import { isOwn, periodOf, type PeriodSearch, rangeByDefault, ranges, zone } from './period.ts'

const own = 'own'

/** The last days, or days of the reader's choice. */
export function PeriodChoice({ search }: { search: PeriodSearch }) {
	const { project } = useProject()
	const navigate = useNavigate()
	const set = (changed: PeriodSearch) =>
		void navigate({
			to: '/console/$projectId/analytics',
			params: { projectId: project.id },
			search: (old) => ({ ...old, ...changed }),
			replace: true,
		})
	const { first, last } = periodOf(search)
	const choose = (value: string | undefined) =>
		set(
			value === own
				? { days: undefined, from: first, to: last }
				: {
						days: ranges.find((days) => String(days) === value),
						from: undefined,
						to: undefined,
					},
		)
	return (
		<Row>
			<Filter
				name="Period"
				all={`Last ${rangeByDefault} days`}
				value={isOwn(search) ? own : search.days && String(search.days)}
				options={[
					...ranges
						.filter((days) => days !== rangeByDefault)
						.map((days) => ({ value: String(days), name: `Last ${days} days` })),
					{ value: own, name: 'Own period' },
				]}
				onChange={choose}
			/>
			{isOwn(search) && (
				<>
					<DayFilter
						name="First day"
						value={search.from ?? first}
						isRequired
						onChange={(from) => from && set({ from })}
					/>
					<DayFilter
						name="Last day"
						value={search.to ?? last}
						isRequired
						onChange={(to) => to && set({ to })}
					/>
				</>
			)}
			<Soft>Days in {zone}</Soft>
		</Row>
	)
}
