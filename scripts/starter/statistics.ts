/** What the text consists of, and what the policy's prompts cost in tokens of this vocabulary. */
import { agentMessages } from '../../src/core/agents/index.ts';
import type { AgentState, PromptSettings } from '../../src/core/agents/index.ts';
import { createHouseholdProvider } from '../../src/core/environments/household/provider.ts';
import { documentKinds } from '../../src/core/starter/document.ts';
import { encodeConversation } from '../../src/core/starter/index.ts';
import type { ShardManifest, Tokenizer } from '../../src/core/starter/index.ts';

export function printShardStatistics({ shards, tokens }: ShardManifest): void {
  const documents = shards.reduce((sum, shard) => sum + shard.documents, 0);
  const skipped = shards.reduce((sum, shard) => sum + shard.skipped, 0);
  const mean = (tokens / documents).toFixed(0);
  console.log(
    `${String(documents)} documents, ${mean} tokens each on average; ${String(skipped)} too long ones left out`,
  );
  for (const kind of documentKinds) {
    const share = shards.reduce((sum, shard) => sum + (shard.kinds[kind] ?? 0), 0) / tokens;
    console.log(`  ${kind.padEnd(10)} ${(100 * share).toFixed(1)} % of the tokens`);
  }
}

const episodes = 60;

/** Expert episodes of household-small and household: the prompt at the last step, which is the longest. */
export async function printPromptCosts(tokenizer: Tokenizer, seed: number): Promise<void> {
  const append = { style: 'append' } as const;
  const window = { style: 'window', steps: 2 } as const;
  const styles: [string, PromptSettings][] = [
    ['full, append', { history: append, style: 'full', thought: false, fewShot: false }],
    ['full, window 2', { history: window, style: 'full', thought: false, fewShot: false }],
    ['compact, append', { history: append, style: 'compact', thought: false, fewShot: false }],
  ];
  for (const id of ['household-small', 'household'] as const) {
    const provider = createHouseholdProvider(id);
    const tasks = provider.listTasks({ split: 'train', limit: episodes, offset: seed * episodes }).tasks;
    const states: AgentState[] = [];
    for (const { taskId, instruction } of tasks) {
      const session = await provider.open({ taskId, seed });
      const history: AgentState['history'][number][] = [];
      let observation = await session.reset();
      for (;;) {
        const action = await session.solve();
        if (action === null) break;
        states.push({
          instruction,
          actionGuide: provider.describe().actionGuide,
          history: [...history],
          observation,
        });
        history.push({ observation, answer: `<action>${action}</action>`, action, parseStatus: 'ok' });
        observation = (await session.step(action)).observation;
      }
      await session.close();
    }
    console.log(
      `${id}: ${String(tasks.length)} expert episodes, ${String(states.length)} states; prompt tokens`,
    );
    for (const [name, settings] of styles) {
      const lengths = states
        .map((state) => encodeConversation(agentMessages(state, settings), tokenizer).ids.length)
        .toSorted((a, b) => a - b);
      const at = (share: number): string =>
        String(lengths[Math.floor(share * (lengths.length - 1))] ?? 0).padStart(5);
      const system = tokenizer.encode(
        agentMessages(states[0] ?? emptyState, settings)[0]?.content ?? '',
      ).length;
      console.log(
        `  ${name.padEnd(16)} median ${at(0.5)}, 95 % ${at(0.95)}, longest ${at(1)}; system message ${String(system)}`,
      );
    }
  }
}

const emptyState: AgentState = {
  instruction: '',
  actionGuide: '',
  history: [],
  observation: { text: '', admissible: null },
};
