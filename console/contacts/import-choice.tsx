import { Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Soft, Stack } from '../parts/page.tsx'
import { type CsvFile, openCsv } from './csv-file.ts'
import styles from './import.module.css'

/** A file is chosen, or dropped here. */
export function ImportChoice({ onChoose }: { onChoose: (csv: CsvFile) => void }) {
	const input = useRef<HTMLInputElement>(null)
	const [isOver, setOver] = useState(false)
	const [error, setError] = useState<unknown>()
	async function open(file: File | undefined) {
		if (!file) return
		setError(undefined)
		try {
			onChoose(await openCsv(file))
		} catch (fault) {
			setError(fault)
		}
	}
	return (
		<Stack>
			<div
				className={styles.drop}
				data-over={isOver}
				onDragOver={(event) => {
					event.preventDefault()
					setOver(true)
				}}
				onDragLeave={() => setOver(false)}
				onDrop={(event) => {
					event.preventDefault()
					setOver(false)
					void open(event.dataTransfer.files[0])
				}}
			>
				<Upload size={22} aria-hidden />
				<p>Drop a CSV file here</p>
				<input
					ref={input}
					type="file"
					accept=".csv,text/csv"
					aria-label="CSV file"
					hidden
					onChange={({ target }) => {
						void open(target.files?.[0])
						// So that a corrected file of the same name is a change.
						target.value = ''
					}}
				/>
				<Button kind="primary" onClick={() => input.current?.click()}>
					Choose a file
				</Button>
				<Soft>
					The first line names the columns; one of them has the addresses. UTF-8, separated by
					commas, semicolons or tabs, at most 5 MB. Nothing is imported before you have seen a
					preview.
				</Soft>
			</div>
			<Fault error={error} />
		</Stack>
	)
}
