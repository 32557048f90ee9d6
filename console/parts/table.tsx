import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Fault } from './fault.tsx'
import { listKeys } from './list-keys.ts'
import styles from './table.module.css'
import { Waiting } from './waiting.tsx'

export interface Column<Row> {
	name: string
	cell: (row: Row) => ReactNode
	/** A CSS width, such as `120px` or `2fr`. By default `1fr`. */
	width?: string
	isNumber?: boolean
	/** Its values say nothing without its name, as numbers do: a phone shows it with each. */
	isNamedOnPhone?: boolean
	/** On a phone the first column is the headline, and the others follow below it unless they are left out or say nothing. */
	isLeftOutOnPhone?: boolean
}

interface Props<Row> {
	name: string
	columns: Column<Row>[]
	rows: Row[] | undefined
	rowKey: (row: Row) => string
	/** The address that a row leads to, if it leads anywhere. */
	linkOf?: (row: Row) => string | undefined
	/** For choosing rows. */
	chosen?: { has: (row: Row) => boolean; toggle: (row: Row) => void }
	error?: unknown
	retry?: () => void
	empty: ReactNode
	/** Loads more rows; absent when there are none. */
	more?: (() => void) | undefined
	isLoadingMore?: boolean
}

/** A list of records. Arrow keys move between rows, Enter opens one. */
export function Table<Row>(props: Props<Row>) {
	const { name, columns, rows, rowKey, error, retry, empty, more, isLoadingMore = false } = props
	if (error && !rows) return <Fault error={error} {...(retry && { retry })} />
	if (!rows) return <Waiting />
	if (rows.length === 0) return empty
	const template = [
		...(props.chosen ? ['36px'] : []),
		...columns.map(({ width = '1fr' }) => (width.endsWith('fr') ? `minmax(0, ${width})` : width)),
	].join(' ')
	return (
		<>
			{error ? <Fault error={error} {...(retry && { retry })} /> : null}
			<div
				role="table"
				aria-label={name}
				className={styles.table}
				style={{ '--columns': template } as object}
			>
				<div role="rowgroup" className={styles.head}>
					<div role="row" className={styles.row}>
						{props.chosen && (
							<span role="columnheader">
								<span className="unseen">Chosen</span>
							</span>
						)}
						{columns.map((column) => (
							<span role="columnheader" key={column.name} data-number={column.isNumber}>
								{column.name}
							</span>
						))}
					</div>
				</div>
				<div role="rowgroup" {...listKeys}>
					{rows.map((row) => (
						<TableRow key={rowKey(row)} row={row} {...props} />
					))}
				</div>
			</div>
			{more && (
				<div className={styles.more}>
					<Button onClick={more} isBusy={isLoadingMore}>
						Show more
					</Button>
				</div>
			)}
		</>
	)
}

function TableRow<Row>({ row, columns, linkOf, chosen, rowKey }: Props<Row> & { row: Row }) {
	const link = linkOf?.(row)
	return (
		<div role="row" className={styles.row} data-link={link !== undefined}>
			{chosen && (
				<span role="cell" className={styles.choice}>
					<input
						type="checkbox"
						aria-label={`Choose ${rowKey(row)}`}
						checked={chosen.has(row)}
						onChange={() => chosen.toggle(row)}
					/>
				</span>
			)}
			{columns.map((column, index) => {
				const content = column.cell(row)
				return (
					<span
						role="cell"
						key={column.name}
						data-name={column.name}
						data-number={column.isNumber}
						data-named={column.isNumber || column.isNamedOnPhone}
						data-left-out={column.isLeftOutOnPhone || content === '–'}
						// It may not fit.
						{...(typeof content === 'string' && { title: content })}
					>
						{index === 0 && link !== undefined ? (
							<Link to={link as '/'} className={styles.link}>
								{content}
							</Link>
						) : (
							content
						)}
					</span>
				)
			})}
		</div>
	)
}
