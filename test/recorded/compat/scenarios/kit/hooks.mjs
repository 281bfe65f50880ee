// Answers of token and authorization webhooks, for `hooks` of scenarios whose set-up has them.

/** A hook that gives its answers in this order, and the last one from then on. */
export const inTurn = (...answers) => (review, count) => answers[Math.min(count, answers.length) - 1](review, count);

const access = (status) => (review) => ({ apiVersion: review.apiVersion, kind: review.kind, status });
export const allow = access({ allowed: true, reason: 'the hook allows it' });
export const deny = access({ allowed: false, denied: true, reason: 'the hook denies it' });
export const noOpinion = access({ allowed: false, reason: 'the hook does not know' });
export const allowAndDeny = access({ allowed: true, denied: true });

/** A token webhook that knows this user. */
export const knows = (user, status = {}) => (review) => ({ apiVersion: review.apiVersion, kind: review.kind, status: { authenticated: true, user, ...status } });
export const knowsNobody = (review) => ({ apiVersion: review.apiVersion, kind: review.kind, status: { authenticated: false, error: 'nobody has this token' } });

export const fails = (status = 500, raw = 'it failed') => () => ({ status, raw });
export const garbage = () => ({ raw: 'this is no review' });
export const hangs = () => ({ hang: true });
export const cuts = () => ({ close: true });
