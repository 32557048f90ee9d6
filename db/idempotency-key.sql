-- For statements that complete an idempotency key together with their work: the whole statement fails unless the
-- claim is still held. isClaimLost of db/idempotency-key.ts recognises the error code.
create or replace function require_claim(is_held boolean) returns boolean
language plpgsql as $$
begin
	if not is_held then
		raise exception 'The claim of the idempotency key was taken over or has ended'
			using errcode = 'TP001';
	end if;
	return true;
end $$;
