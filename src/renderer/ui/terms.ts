/** One line for each term of art that a page uses. */
export const terms = {
  K: 'How many alternative actions are really executed from each state of a demonstration.',
  IWM: 'Implicit world modelling: the policy learns to predict what an action leads to, before it learns to act.',
  SR: 'Self-reflection: the policy learns from texts that compare the expert’s action with alternatives and their real outcomes.',
  branch: 'One action really executed from a demonstration’s state, after proof that the state was the same.',
  demonstration: 'An episode of an expert that reached the goal.',
  reflection: 'A text, written by a model, on why the expert’s action was the better one.',
  episode: 'One attempt at one task: observation, action, observation, … until it ends.',
  admissible: 'An action that the environment accepts in the present state.',
  'log-probability':
    'Natural logarithm of the probability that the model gave to the token it chose; 0 is certain.',
  context: 'How many tokens of prompt and answer one sequence can hold.',
  sequences: 'Episodes that are evaluated in one batch; each needs its own room in the KV cache.',
  'KV cache': 'Memory for what the model has already read, so that a prefix is never evaluated twice.',
  quantisation: 'How many bits a weight takes in the file; fewer bits are smaller and less exact.',
  'chat template': 'The format in which this model was trained to read a conversation.',
  'base model':
    'A model that continues text and was not trained on conversations; it gets the completion format with examples.',
  'real environment steps':
    'Actions executed in real environments since this data folder was made, over all runs.',
  offline: 'Nothing has left this machine. Only an HTTP model that you add yourself can change that.',
} as const;
export type TermName = keyof typeof terms;
