import { Button } from '../parts/button.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Row, Soft } from '../parts/page.tsx'

interface Props {
	page: number
	totalPages: number
	total: number
	onChange: (page: number) => void
}

/** For lists in numbered pages. */
export function Pager({ page, totalPages, total, onChange }: Props) {
	if (totalPages <= 1) return null
	return (
		<Row>
			<Button disabled={page <= 1} onClick={() => onChange(page - 1)}>
				Previous
			</Button>
			<Button disabled={page >= totalPages} onClick={() => onChange(page + 1)}>
				Next
			</Button>
			<Soft>
				Page {formatCount(page)} of {formatCount(totalPages)}, {formatCount(total)} in all
			</Soft>
		</Row>
	)
}
