import type { ReactNode } from 'react'
import styles from './figures.module.css'

const whole = new Intl.NumberFormat()
const brief = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

export const formatCount = (value: number) => whole.format(value)
export const formatBrief = (value: number) => brief.format(value)
/** The API gives percentages as numbers from 0 to 100. */
export const formatPercent = (percent: number) => share.format(percent / 100)

export interface FigureOf {
	name: string
	/** A dash stands for what is not known yet. */
	value: ReactNode
	/** Below the figure: its share, for example. */
	about?: ReactNode
	tone?: 'good' | 'warn' | 'bad'
}

/** A row of figures, each with its name above it. */
export const Figures = ({ figures }: { figures: FigureOf[] }) => (
	<dl className={styles.figures}>
		{figures.map(({ name, value, about, tone }) => (
			<div key={name} className={styles.figure}>
				<dt>{name}</dt>
				<dd className={styles.value} data-tone={tone}>
					{typeof value === 'number' ? formatCount(value) : (value ?? '–')}
				</dd>
				{about !== undefined && <dd className={styles.about}>{about}</dd>}
			</div>
		))}
	</dl>
)

/** Names and values in two columns. */
export const Facts = ({ facts }: { facts: [name: string, value: ReactNode][] }) => (
	<dl className={styles.facts}>
		{facts.map(([name, value]) => (
			<div key={name}>
				<dt>{name}</dt>
				<dd>{value ?? '–'}</dd>
			</div>
		))}
	</dl>
)
