import type { ReactNode } from 'react'
import { Badge } from '../parts/badge.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Card, Soft } from '../parts/page.tsx'
import styles from './domain-record.module.css'
import { adviceOf, type DnsRecord, isAdvice, isThere, purposes } from './record-advice.ts'

/** One DNS record: what is wanted, what the last check found, and what to do if they differ. */
export function DomainRecord({ record, domain }: { record: DnsRecord; domain: string }) {
	const { type, name, value, priority, purpose, found } = record
	const isFound = record.status === 'verified'
	const isOptional = isAdvice(record, domain)
	return (
		<section aria-label={`${purpose} record`}>
			<Card>
				<header className={styles.head}>
					<h3>{purpose === 'OWNERSHIP' ? 'Ownership' : purpose}</h3>
					{isFound ? (
						<Badge tone="good">Found</Badge>
					) : (
						<Badge tone={isOptional ? 'none' : 'warn'}>{lackOf(record, isOptional)}</Badge>
					)}
					<Soft>{purposes[purpose]}</Soft>
				</header>
				<dl className={styles.parts}>
					<Part name="Type">
						<code>{type}</code>
					</Part>
					<Part name="Name">
						<Copyable text={name} name="Copy the name" />
					</Part>
					{priority !== undefined && (
						<Part name="Priority">
							<Copyable text={String(priority)} name="Copy the priority" />
						</Part>
					)}
					<Part name="Value">
						<Copyable text={value} name="Copy the value" />
					</Part>
					<Part name="Found">
						<Found answers={found} />
					</Part>
				</dl>
				{!isFound && (
					<p className={styles.advice} data-optional={isOptional}>
						{adviceOf(record, domain)}
					</p>
				)}
			</Card>
		</section>
	)
}

function lackOf(record: DnsRecord, isOptional: boolean) {
	const { found } = record
	if (isOptional) return 'Advised'
	if (found === null) return 'Not known'
	if (isThere(record)) return 'Not confirmed'
	return found.length > 0 ? 'Differs' : 'Missing'
}

const Part = ({ name, children }: { name: string; children: ReactNode }) => (
	<div>
		<dt>{name}</dt>
		<dd>{children}</dd>
	</div>
)

function Found({ answers }: { answers: DnsRecord['found'] }) {
	if (answers === null) return <Soft>Not known</Soft>
	if (answers.length === 0) return <Soft>Nothing</Soft>
	return answers.map((answer, index) => (
		// DNS may have the same answer twice.
		<p key={`${index} ${answer}`}>
			<code>{answer}</code>
		</p>
	))
}
