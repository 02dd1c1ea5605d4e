/**
 * Program named in a job id, as far as its form allows: sites choose the form with `jobid_name`, and common ones are `%j.%e.%u`,
 * `%e.%u` (the default of `procname_uid`), `%j.%e` and `%e.%u.%h`. Empty if the id is a number or has another form.
 */
const WITH_JOB = /^\d+(?:[_+]\d+)?\.([^.\d][^.]*(?:\.[^.]+)*?)(?:\.u?\d+)?$/
const WITHOUT_JOB = /^([^.\d][^.]*(?:\.[^.]+)*?)\.u?\d+(?:\.[A-Za-z][\w-]*)?$/

export const exeOf = (jobId: string): string => (WITH_JOB.exec(jobId) ?? WITHOUT_JOB.exec(jobId))?.[1] ?? ''
