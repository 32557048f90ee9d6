import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useColours } from './colours.ts'
import styles from './chart.module.css'
import { formatBrief, formatCount } from './figures.tsx'

export interface Series {
	name: string
	values: (number | null)[]
	/** The name of a colour token. */
	colour: 'accent' | 'good' | 'warn' | 'bad' | 'info' | 'text-soft'
}

interface Props {
	/** Says what the chart shows, for readers who do not see it. */
	name: string
	/** Moments, ascending. */
	times: (string | number | Date)[]
	series: Series[]
	height?: number
	/** Each moment stands for its day. */
	isByDay?: boolean
}

/** Things are counted: there is no half of one. */
const wholeOnly = (mark: number) => (Number.isInteger(mark) ? formatBrief(mark) : '')

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const wholeDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
// When clocks are set forward.
const shortestDayMs = 23 * 3_600_000

/** The marks of the axis as its reader writes them: days, or times within a day. */
function inReadersWords(marks: number[]) {
	const dates = marks.map((mark) => new Date(mark * 1000))
	const isWithinDays = dates.length > 1 && dates[1]!.getTime() - dates[0]!.getTime() < shortestDayMs
	return dates.map((date, index) => {
		if (!isWithinDays) return day.format(date)
		const isNewDay = index === 0 || day.format(dates[index - 1]) !== day.format(date)
		return isNewDay ? `${clock.format(date)}\n${day.format(date)}` : clock.format(date)
	})
}

// How far the marks of the axis are apart, in seconds.
const days = [1, 2, 3, 7, 14, 30, 60, 90, 180, 365].map((count) => count * 86_400)
const minutes = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((count) => count * 60)

/** Figures over time. The legend shows those at the pointer, or else the latest. */
export default function Chart({ name, times, series, height = 220, isByDay = false }: Props) {
	const place = useRef<HTMLDivElement>(null)
	const colours = useColours()
	useEffect(() => {
		const element = place.current!
		const colourOf = (token: string) => getComputedStyle(element).getPropertyValue(`--${token}`)
		const [text, line] = [colourOf('text-soft'), colourOf('line')]
		const showLatest = (shown: UPlot) => {
			const isPointedAt = typeof shown.legend.idx === 'number'
			if (!isPointedAt && times.length > 0) shown.setLegend({ idx: times.length - 1 }, false)
		}
		const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false } }
		const plot = new UPlot(
			{
				width: element.clientWidth,
				height,
				cursor: { y: false },
				hooks: { ready: [showLatest], setLegend: [showLatest] },
				scales: { y: { range: (_plot, _least, most) => [0, Math.max(most * 1.1, 1)] } },
				axes: [
					{
						...axis,
						incrs: isByDay ? days : [...minutes, ...days],
						space: 64,
						values: (_plot, marks) => inReadersWords(marks),
					},
					{ ...axis, size: 48, values: (_plot, marks) => marks.map(wholeOnly) },
				],
				series: [
					{
						label: isByDay ? 'Day' : 'Time',
						value: (_plot, at: number | null) =>
							at === null ? '–' : (isByDay ? wholeDay : moment).format(at * 1000),
					},
					...series.map((one) => ({
						label: one.name,
						stroke: colourOf(one.colour),
						width: 2,
						points: { show: times.length === 1 },
						value: (_plot: UPlot, value: number | null) =>
							value === null ? '–' : formatCount(value),
					})),
				],
			},
			[times.map((time) => new Date(time).getTime() / 1000), ...series.map(({ values }) => values)],
			element,
		)
		const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
		observer.observe(element)
		return () => {
			observer.disconnect()
			plot.destroy()
		}
	}, [times, series, height, isByDay, colours])
	// The legend and the axes take their room from the start.
	return (
		<div
			ref={place}
			role="img"
			aria-label={name}
			className={styles.chart}
			style={{ minHeight: height + 32 }}
		/>
	)
}
