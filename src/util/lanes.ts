/**
 * Does all tasks, at most `lanes` at once; each is begun in its order, as soon as a lane is free. Rejects with the first fault, and stops
 * nothing: the lane of the fault ends, the others go on.
 */
export async function inLanes<Task>(
  tasks: readonly Task[],
  lanes: number,
  run: (task: Task) => Promise<void>,
): Promise<void> {
  const left = tasks.values()
  const lane = async (): Promise<void> => {
    for (const task of left) await run(task)
  }
  await Promise.all(Array.from({ length: Math.min(lanes, tasks.length) }, lane))
}
