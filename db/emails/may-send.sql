-- May this mail leave? Every path asks this at the last moment before the hand-over: `open` for single mails (those
-- of requests, workflow steps and tests), and the claim of a campaign's slice. Each looks the facts up by index and
-- passes them.

-- `/v1/send` may send HEADLESS mail to anybody; a campaign or a workflow needs consent for it.
create or replace function needs_consent(type text, source_type text) returns bool
language sql immutable parallel safe
return type = 'MARKETING' or type = 'HEADLESS' and source_type is distinct from 'TRANSACTIONAL';

-- Returns why the mail may not leave, in the words of the API; null: it may. Only owners with a verified address
-- may send mail beyond this machine.
create or replace function may_send(
	disabled_reason text, suppression_reason text, needs_consent bool, subscribed bool, address text,
	owner_verified bool, provider text)
returns text
language sql immutable parallel safe
return case
	when disabled_reason is not null then 'The project is disabled: ' || disabled_reason
	when suppression_reason is not null then 'The address is on the suppression list: ' || suppression_reason
	when needs_consent and not subscribed then 'The contact is not subscribed'
	when address = erased_address() then 'The contact was erased'
	when not owner_verified and provider <> 'local' then 'The project''s owner has not verified their email address'
end;

-- The status of a mail that may not leave.
create or replace function barred_status(disabled_reason text, suppression_reason text) returns text
language sql immutable parallel safe
return case when disabled_reason is null and suppression_reason is not null then 'SUPPRESSED' else 'CANCELLED' end;
