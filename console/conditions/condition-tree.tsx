import { Plus } from 'lucide-react'
import { Fragment, useRef, useState } from 'react'
import type { Condition, ConditionGroup, Filter } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import field from '../parts/field.module.css'
import { useBuilder } from './builder-context.ts'
import { blankFilter, blankGroup, maxDepth } from './condition.ts'
import styles from './conditions.module.css'
import { FilterLine } from './filter-line.tsx'
import { GroupActs } from './group-acts.tsx'
import { useKeptFocus } from './use-kept-focus.ts'

interface Props {
	tree: Condition
	path: string
	depth: number
	onChange: (tree: Condition) => void
	/** Absent where something must stay. */
	onRemove: (() => void) | undefined
}

/** Groups that are joined by and or by or. */
export function ConditionTree({ tree, path, depth, onChange, onRemove }: Props) {
	const { isFull } = useBuilder()
	const place = useRef<HTMLDivElement>(null)
	const { logic, groups } = tree
	useKeptFocus(place, groups.length)
	const isAlone = groups.length === 1
	const replace = (at: number, group: ConditionGroup) =>
		onChange({ logic, groups: groups.map((one, index) => (index === at ? group : one)) })
	const removerOf = (at: number) =>
		isAlone
			? onRemove
			: () => onChange({ logic, groups: groups.filter((_, index) => index !== at) })
	return (
		<div ref={place} className={styles.tree} data-nested={depth > 1}>
			{groups.map((group, index) => (
				// A group has no name of its own.
				<Fragment key={index}>
					{index === 1 && (
						<select
							className={`${field.control} ${styles.logic}`}
							aria-label="Between the groups"
							value={logic}
							onChange={({ target }) =>
								onChange({ logic: target.value === 'AND' ? 'AND' : 'OR', groups })
							}
						>
							<option value="OR">or</option>
							<option value="AND">and</option>
						</select>
					)}
					{index > 1 && <span className={styles.logic}>{logic.toLowerCase()}</span>}
					<Group
						{...{ group, depth }}
						path={`${path}.groups.${index}`}
						onChange={(changed) => replace(index, changed)}
						onRemove={removerOf(index)}
					/>
				</Fragment>
			))}
			<div className={styles.more} data-acts>
				<Button
					kind="quiet"
					icon={<Plus size={15} aria-hidden />}
					disabled={isFull}
					onClick={() =>
						onChange({ logic: isAlone ? 'OR' : logic, groups: [...groups, blankGroup] })
					}
				>
					{isAlone || logic === 'OR' ? 'Or' : 'And'} another group
				</Button>
			</div>
		</div>
	)
}

interface GroupProps {
	group: ConditionGroup
	path: string
	depth: number
	onChange: (group: ConditionGroup) => void
	onRemove: (() => void) | undefined
}

/** Filters of which all must be met, and perhaps a tree inside. */
function Group({ group, path, depth, onChange, onRemove }: GroupProps) {
	const [newAt, setNewAt] = useState<number>()
	const { filters = [], conditions } = group
	const set = (changed: Filter[]) => onChange({ ...group, filters: changed })
	const count = filters.length + (conditions ? 1 : 0)
	const isLast = count === 1
	const place = useRef<HTMLDivElement>(null)
	useKeptFocus(place, count)
	return (
		<div ref={place} className={styles.group} role="group" aria-label="Group of filters">
			{filters.map((filter, index) => (
				<FilterLine
					key={index}
					filter={filter}
					path={`${path}.filters.${index}`}
					word={index > 0 ? 'and' : 'where'}
					isNew={index === newAt}
					onChange={(changed) => set(filters.map((one, at) => (at === index ? changed : one)))}
					onRemove={
						isLast
							? onRemove
							: () => {
									setNewAt(undefined)
									set(filters.filter((_, at) => at !== index))
								}
					}
				/>
			))}
			{conditions && (
				<div className={styles.line} data-tree>
					<span className={styles.word}>{filters.length > 0 ? 'and' : ''}</span>
					<ConditionTree
						tree={conditions}
						path={`${path}.conditions`}
						depth={depth + 1}
						onChange={(changed) => onChange({ ...group, conditions: changed })}
						onRemove={isLast ? onRemove : () => onChange({ filters })}
					/>
				</div>
			)}
			<GroupActs
				onFilter={() => {
					setNewAt(filters.length)
					set([...filters, blankFilter])
				}}
				onTree={
					conditions || depth >= maxDepth
						? undefined
						: () =>
								onChange({
									...group,
									conditions: { logic: 'OR', groups: [blankGroup, blankGroup] },
								})
				}
				onRemove={filters.length > 1 ? onRemove : undefined}
			/>
		</div>
	)
}
