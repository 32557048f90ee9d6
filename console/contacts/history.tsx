import type { ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Row, Soft } from '../parts/page.tsx'
import { type Moment, Timeline } from '../parts/timeline.tsx'
import { Waiting } from '../parts/waiting.tsx'

interface Props {
	moments: Moment[] | undefined
	/** Shown where there is none. */
	none: ReactNode
	error: unknown
	retry: () => void
	more: (() => void) | undefined
	isLoadingMore: boolean
}

/** A timeline that is loaded page by page. */
export function History({ moments, none, error, retry, more, isLoadingMore }: Props) {
	if (error) return <Fault error={error} retry={retry} />
	if (!moments) return <Waiting />
	if (moments.length === 0) return <Soft>{none}</Soft>
	return (
		<>
			<Timeline moments={moments} />
			{more && (
				<Row>
					<Button onClick={more} isBusy={isLoadingMore}>
						Show earlier
					</Button>
				</Row>
			)}
		</>
	)
}
