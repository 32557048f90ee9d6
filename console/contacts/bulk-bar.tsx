import { getRouteApi } from '@tanstack/react-router'
import { Button } from '../parts/button.tsx'
import { counted } from '../parts/counted.ts'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Filter } from '../parts/filter.tsx'
import { Soft } from '../parts/page.tsx'
import { ChooseColumns } from './choose-columns.tsx'
import { type ContactFilters, orders } from './contact-filters.ts'
import styles from './contacts.module.css'
import { countOf, mostChosen, type useSelection } from './selection.ts'
import { useBulk } from './use-bulk.ts'
import type { useColumns } from './use-columns.ts'

const route = getRouteApi('/console/$projectId/contacts')

interface Props {
	filters: ContactFilters
	total: number | undefined
	isCounting: boolean
	selection: ReturnType<typeof useSelection>
	columns: ReturnType<typeof useColumns>
}

/** The number of contacts, or what can be done with those that are chosen. */
export function BulkBar({ filters, total, isCounting, selection, columns }: Props) {
	const { selection: chosen, chooseAll, chooseNone } = selection
	const count = countOf(chosen, total)
	const { act, error, isBusy } = useBulk({ filters, chosen, count, onDone: chooseNone })
	const isAny = chosen.mode === 'query' || chosen.chosen.size > 0
	if (!isAny)
		return (
			<div className={styles.bar}>
				<Soft>{isCounting ? 'Counting …' : inWords(total)}</Soft>
				<Order />
				<Button disabled={total === 0} onClick={chooseAll}>
					Choose all
				</Button>
				<ChooseColumns {...columns} />
			</div>
		)
	const isAll = chosen.mode === 'query'
	// The question before an act names their number.
	const isTooEarly = isAll && isCounting
	return (
		<>
			<Fault error={error} />
			<div className={styles.bar} role="toolbar" aria-label="Chosen contacts">
				<span role="status">
					{isTooEarly
						? 'Counting …'
						: `${count === undefined ? 'All that match are' : formatCount(count)} chosen`}
					{count === mostChosen && !isAll && <Soft> · choose all to choose more</Soft>}
				</span>
				{!isAll && (
					<Button kind="quiet" onClick={chooseAll}>
						Choose all {total !== undefined && formatCount(total)}
					</Button>
				)}
				<Button disabled={isTooEarly} isBusy={isBusy} onClick={() => act('subscribe')}>
					Subscribe
				</Button>
				<Button disabled={isTooEarly} isBusy={isBusy} onClick={() => act('unsubscribe')}>
					Unsubscribe
				</Button>
				<Button kind="danger" disabled={isTooEarly} isBusy={isBusy} onClick={() => act('delete')}>
					Delete
				</Button>
				<Button kind="quiet" onClick={chooseNone}>
					Choose none
				</Button>
			</div>
		</>
	)
}

function Order() {
	const { order } = route.useSearch()
	const navigate = route.useNavigate()
	return (
		<Filter
			name="Order"
			all={orders[0].name}
			value={order === orders[0].value ? undefined : order}
			options={orders.slice(1)}
			onChange={(value) => {
				const chosen = orders.find((one) => one.value === value)?.value
				void navigate({ search: (old) => ({ ...old, order: chosen }), replace: true })
			}}
		/>
	)
}

const inWords = (total: number | undefined) =>
	total === undefined ? 'Too many to count at once' : counted(total, 'contact')
