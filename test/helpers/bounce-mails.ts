// Returned mails, built like the examples in RFC 3464 and RFC 5965.

interface Original {
	id: string
	/** The original headers as the reporting server returns them; by default both of our ids. */
	headers?: string
}

const crlf = (text: string) => text.replaceAll(/\r?\n/g, '\r\n')

const headersOf = ({ id, headers }: Original) =>
	headers ??
	`Received: from mx.example.com by mail.example.org
From: App <app@example.com>
To: anna@example.org
Subject: Hello
Message-ID: <${id}@example.com>
X-Tempost-Id: ${id}`

function report(
	type: string,
	status: string,
	original: Original,
	returned = 'text/rfc822-headers',
) {
	return crlf(`From: MAILER-DAEMON@mail.example.org
To: bounces@example.com
Subject: Undelivered Mail Returned to Sender
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=${type.split('/')[1]};
	boundary="edge"

This is a MIME-encapsulated message.

--edge
Content-Type: text/plain; charset=us-ascii

I'm sorry to have to inform you that your message could not be delivered.

--edge
Content-Type: ${type}

${status}

--edge
Content-Type: ${returned}

${headersOf(original)}

The text of the mail

--edge--
`)
}

/** The fields of one recipient. The last one is folded over two lines. */
export function dsn(
	original: Original,
	{
		action = 'failed',
		status = '5.1.1',
		diagnostic = 'smtp; 550 5.1.1 <anna@example.org>:\n    User unknown',
	},
	{ returned, type = 'message/delivery-status', recipients = '' }: Record<string, string> = {},
) {
	const fields = [
		'Final-Recipient: rfc822; anna@example.org',
		action && `Action: ${action}`,
		status && `Status: ${status}`,
		'Remote-MTA: dns; mail.example.org',
		diagnostic && `Diagnostic-Code: ${diagnostic}`,
	].filter(Boolean)
	const perMessage =
		'Reporting-MTA: dns; mail.example.org\nArrival-Date: Sat, 21 Nov 2026 10:00:00 +0000'
	return report(type, `${perMessage}\n\n${fields.join('\n')}${recipients}`, original, returned)
}

export const complaint = (original: Original, type = 'abuse') =>
	report(
		'message/feedback-report',
		`Feedback-Type: ${type}\nUser-Agent: SomeGenerator/1.0\nVersion: 1\nOriginal-Rcpt-To: anna@example.org`,
		original,
		'message/rfc822',
	)
