// SPDX-License-Identifier: Apache-2.0
// The state of a running simulation. engine.cpp has time and instances; executors.cpp has what
// executors do with releases; kinds/KIND.cpp has what only one kind of executor does; setup.cpp has
// the initial state.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "rclrt/analysis/simulation.hpp"
#include "rclrt/model/event_times.hpp"
#include "simulation/group.hpp"
#include "simulation/lane.hpp"
#include "simulation/link.hpp"
#include "simulation/messages.hpp"
#include "simulation/processors.hpp"

namespace rclrt::analysis::detail {

class SimulationEngine {
 public:
  SimulationEngine(const SimulatedSystem& system, const SimulationOptions& options,
                   SimulationObserver* observer);

  SimulationResult run();

  /// Returns the state of the messages at the end of run(), relative to it, except those that wait
  /// for their callbacks: what is on the way, and what synchronisers still can match. Two
  /// simulations with equal results go on alike, if no callback is released or runs at their ends.
  std::vector<std::int64_t> messages_at_end() const;

  /// How a kind of executor is simulated.
  struct Kind;
  /// Returns that of a kind. Throws std::invalid_argument for a value that is no enumerator.
  static const Kind& kind_of(ExecutorKind executor);

 private:
  enum class Phase {
    kDispatch,
    kWait,  ///< executes before it waits, or waits
    kRun,
    kPublish
  };

  /// The lanes of an executor for all of its callbacks.
  enum class Lanes {
    kAbsent,    ///< a thread for each instance, threads that poll, or lanes for some callbacks
    kOfLevels,  ///< one for each level
    kShared,    ///< one for all levels
  };

  struct Instance {
    Id entity = kNone;
    Phase phase = Phase::kDispatch;
    SimulatedOutcome outcome = SimulatedOutcome::kRan;
    std::int64_t release_ns = 0;
    std::int64_t ready_ns = 0;
    std::int64_t start_ns = 0;
    std::int64_t stamp_ns = 0;   // of the messages it publishes
    std::int64_t taken_ns = 0;   // for a sync: the stamp of the message it took
    std::uint64_t number = 0;    // of a timer's release
    std::uint64_t order = 0;     // in its lane
    std::size_t next_topic = 0;  // to publish on
    std::int64_t wait_ns = 0;    // in kWait
    std::int64_t rest_ns = 0;    // of its execution time, after it has waited
    bool has_begun = false;      // its credit was given back, except with kSkipIfRunning
    std::vector<SimulatedToken> tokens;
  };

  /// A source of releases: a timer, a subscription, or one input of a callback with several.
  struct Entity {
    Id callback = kNone;
    unsigned input = 0;
    std::size_t credits = 0;  // how many instances may wait
    std::size_t history = 0;  // how many messages the middleware keeps
    std::size_t out = 0;      // credits in use
    std::optional<std::pair<std::int64_t, std::uint64_t>> newest;  // kKeepLast: refused release
    std::deque<SimulatedMessage> messages;
    int rank = 0;          // of its instances in a lane that several levels share
    bool is_read = false;  // the message of its next instance was taken ahead, if there was one
    std::optional<SimulatedMessage> read;
    SimulatedCounts counts;
  };

  struct Membership {
    std::uint32_t chain = 0;
    std::uint32_t position = 0;
    bool last = false;
    const std::vector<std::size_t>* inputs = nullptr;  // by which the chain enters it; null: any
  };

  struct Callback {
    const SimulatedCallback* stated = nullptr;
    Id executor = 0;
    Id lane = kNone;  // of its level, if its executor has lanes of levels
    Id group = 0;
    Key key = 0;                   // of its level
    std::int64_t deadline_ns = 0;  // relative; 0: none
    std::vector<Id> entities;      // one for each input
    std::optional<SimulatedSync> sync;
    std::vector<Membership> chains;
    SimulationRandom random{0};
    SimulationRandom waits{0};  // what it draws for waiting
    std::uint64_t runs = 0;
  };

  /// The workers of a preemptive EDF executor, as a stack: an instance starts on top of the ones
  /// that it preempts. Worker i is the i-th from the bottom and has the i-th lowest priority.
  /// Deadlines decide which instance of the executor runs; the workers' priorities decide between
  /// executors.
  struct EdfStack {
    struct Started {
      Id thread = kNone;
      std::size_t worker = 0;
      std::int64_t deadline_ns = 0;  // absolute, as of its start
      std::int64_t ceiling_ns = 0;   // only shorter relative deadlines start above it
    };
    std::size_t workers = 0;
    std::vector<Started> started;  // from the bottom up
    std::vector<Id> waiting;       // threads with an instance that has not started
    Id next = kNone;  // one of `waiting`: may start, at the priority of the next worker
    /// Returns the worker of the next instance: above that of each started one.
    std::size_t next_worker() const { return started.empty() ? 0 : started.back().worker + 1; }
  };

  struct Executor {
    const SimulatedExecutor* stated = nullptr;
    const Kind* kind = nullptr;
    bool by_deadline = false;  // as in the registry
    std::uint64_t cpus = 0;
    Id inbox = kNone;              // of a scheduler thread
    Id scheduler = kNone;          // its thread; kNone when scheduling costs nothing
    std::int64_t handling_ns = 0;  // for which that thread works on each instance
    std::vector<Id> loops;         // the wait set's threads
    Id drawing = kNone;            // the one of `loops` that holds the mutex of the ready set
    std::deque<Id> at_mutex;       // the `loops` that wait for the mutex
    std::vector<Id> idle;          // one-off threads for reuse
    unsigned one_offs = 0;
    bool waits = false;                    // between asking and fetching
    std::vector<bool> asked;               // of `others`, when it last asked
    std::int64_t asked_until_ns = kNever;  // end of the wait
    std::vector<Id> timers;                // of a wait set, in order of registration
    std::vector<Id> others;                // its other entities
    std::vector<Id> ready_set;             // the rest of its ready set begins at `ready_next`
    std::size_t ready_next = 0;
    std::int64_t armed_ns = kNever;
    std::optional<EdfStack> stack;  // of a preemptive EDF
    bool polls() const { return !loops.empty(); }
  };

  enum class EventKind { kLaneTimer, kLoopTimer, kArrival, kRelease, kLink, kWaitEnd };
  struct Event {
    std::int64_t time_ns;
    std::uint64_t sequence;
    EventKind kind;
    Id index;  // lane, executor, message under way, source, link or thread
    bool operator>(const Event& other) const {
      return time_ns != other.time_ns ? time_ns > other.time_ns : sequence > other.sequence;
    }
  };

  struct Link {  // one connection
    Id entity = kNone;
    const Connection* stated = nullptr;
    SimulationRandom random{0};
    std::uint64_t uses = 0;
    std::int64_t last_arrival_ns = 0;
    std::size_t under_way = 0;  // later messages do not overtake these
  };
  struct UnderWay {
    Link* link = nullptr;
    SimulatedMessage message;
  };

  struct Source {  // an event from outside
    Id entity = kNone;
    const EventTrigger* trigger = nullptr;
    model::EventTimes times;
    SimulationRandom random{0};
    std::int64_t nominal_ns = 0;  // of its next release
    std::int64_t due_ns = 0;      // that release with its jitter
    std::uint64_t releases = 0;
  };

  // setup.cpp
  void set_up_executor(Id index);
  void add_scheduler(Id executor);
  void add_instant_scheduler(Id executor);
  void add_handling_threads(Id executor, unsigned threads, std::int64_t handling_ns);
  void set_up_levels(Id index);
  std::vector<Id> add_lanes(Id index, std::size_t levels);
  std::vector<int> thread_levels(Id index) const;
  Id lane_for_some(const Callback& callback, Id key, Key priority, std::size_t first_slot,
                   std::map<Id, Id>& more);
  void set_up_callbacks();
  void set_up_links();
  void register_entities();
  std::vector<Id> by_level(Id executor) const;
  void register_timer(Id entity, const TimerTrigger& trigger);
  void register_source(Id entity, const EventTrigger& trigger);
  Id add_lane(Id executor, Key key, unsigned workers, ThreadKind kind, unsigned first_slot = 0);
  std::uint64_t cpu_mask(const std::vector<unsigned>& cpus) const;
  SimulationRandom stream(std::uint64_t kind, std::uint64_t index) const;

  // engine.cpp: time
  void update_cpus();
  bool warms_up() const { return threads_.now_ns() < options_.warm_up_ns; }
  /// Returns the delay that something has at a time.
  std::int64_t delay_at(std::int64_t time_ns, const TimeDistribution& delays,
                        SimulationRandom& random, std::uint64_t use) const {
    return time_ns < options_.warm_up_ns ? delays.lowest_ns() : delays.draw(random, use);
  }
  void handle(const Event& event);
  void schedule(std::int64_t time_ns, EventKind kind, Id index);
  void proceed(Id thread);
  bool advance(Id thread);  // true when the instance has ended
  bool advance_instance(Id thread);
  std::int64_t draw_run(Callback& callback, Instance& instance);
  void start_wait(Id thread, Instance& instance);
  void finish(Id thread);
  void account_end(const Instance& instance, const SimulatedThread& thread);

  // messages.cpp
  void publish(const Instance& instance, std::vector<Link>& topic);
  Id put_under_way(Link& link, SimulatedMessage message);
  void proceed_link(Id link);
  void schedule_next(Id source);
  void release(Id source);
  void deliver(Id entity, SimulatedMessage message, std::vector<Id>& released);
  bool take(Instance& instance);  // false when user code does not run
  std::optional<SimulatedMessage> take_message(Entity& entity);
  void take_tokens(const Callback& callback, const SimulatedMessage& message, unsigned input,
                   std::vector<SimulatedToken>& tokens) const;
  static bool sends(const Callback& callback, unsigned input, std::size_t topic);
  static const Membership* find(const Callback& callback, std::uint32_t chain);

  // executors.cpp
  Id make_instance(Id entity, std::int64_t release_ns, std::int64_t ready_ns, std::uint64_t number);
  Id new_instance(Id entity, std::int64_t release_ns, std::int64_t ready_ns, std::uint64_t number);
  void begin(Id thread, Id instance, std::int64_t before_ns = 0);
  void give_credit_back(Instance& instance);
  void end_credit(const Instance& instance);
  void submit(Id instance);
  void pass_on(Id instance);
  void spawn(Id executor, Id instance);
  void resume(Id instance);
  void wake_one(SimulatedLane& lane);
  void collect(SimulatedLane& lane);
  void drain(SimulatedLane& inbox);
  Id expire(Id timer);
  void advance_schedule(SimulatedTimer& timer, model::OverrunPolicy policy);
  void arm(Id lane);
  bool enter(Id thread, Id instance);
  void retire(Id thread);
  void pick(Id thread);
  void pick_from_lane(Id thread);
  void pick_for_scheduler(Id thread);
  void pick_for_one_off(Id thread);

  // kinds/edf.cpp
  void set_up_stack(Id executor);
  Key worker_key(const Executor& executor, std::size_t worker) const;
  std::int64_t deadline_of(Id instance) const;
  void wait_for_worker(Id thread);
  bool may_start_on_worker(Id thread) const;
  void start_on_worker(Id thread, Id instance);
  void leave_worker(Id thread);
  void choose_next(Executor& executor, std::optional<std::uint64_t> place);

  // kinds/events.cpp
  Id lane_of_timers(const Callback& callback, const std::vector<Id>& lanes, std::size_t place,
                    std::map<Id, Id>& more);

  // kinds/per_group.cpp
  void raise_to_groups(Id executor, std::vector<int>& levels) const;
  Id lane_of_group(const Callback& callback, const std::vector<Id>& lanes, std::size_t place,
                   std::map<Id, Id>& more);

  // kinds/picas.cpp
  void rank_by_level(Id executor);

  // kinds/static_order.cpp
  void rank_in_order(Id executor);
  void pick_from_set(Id thread);
  bool is_triggered(const SimulatedLane& lane) const;
  bool form_set(SimulatedLane& lane);

  // kinds/workshop.cpp
  void add_idle_threads(Id executor);

  // kinds/wait_set.cpp
  void add_loops(Id executor);
  void order_entities(Id executor);
  void pick_for_loop(Id thread);
  Id take_ready(Executor& executor);
  bool is_busy(Id entity) const;
  void ask(Executor& executor);
  void fetch(Executor& executor);
  bool is_first_of_queue(Id entity) const;
  bool comes_before_timers(const Executor& executor, Id entity) const;
  void wake_polling(Executor& executor);
  const Callback& callback_of(const Instance& instance) const {
    return callbacks_[entities_[instance.entity].callback];
  }
  bool is_edf(Id executor) const { return executors_[executor].by_deadline; }

  static const Kind kWaitSet;
  static const Kind kProducerConsumer;
  static const Kind kThreadDispatch;
  static const Kind kPreemptive;
  static const Kind kEdf;
  static const Kind kEvents;
  static const Kind kPicas;
  static const Kind kPerGroup;
  static const Kind kStaticOrder;
  static const Kind kWorkshop;
  static const Kind kEdfNonPreemptive;
  static const Kind kFixedPriorityNonPreemptive;

  const SimulatedSystem& system_;
  const SimulationOptions options_;
  SimulationObserver* const observer_;
  Processors threads_;
  std::vector<SimulatedTimer> timers_;
  std::vector<Source> sources_;
  std::vector<SimulatedLane> lanes_;
  std::vector<SimulatedGroup> groups_;
  std::vector<Entity> entities_;
  std::vector<Callback> callbacks_;
  std::vector<Executor> executors_;
  std::vector<std::vector<std::vector<Link>>> links_;  // by callback, by topic
  std::vector<SimulatedQueue> queues_;                 // of SimulatedSystem::links
  StableList<Instance> instances_;
  std::vector<Id> free_instances_;
  std::vector<UnderWay> under_way_;
  std::vector<Id> free_under_way_;
  std::vector<Id> released_;  // by the current publication
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_event_ = 0;
  std::uint64_t next_number_ = 0;  // of an instance
  SimulationResult result_;
};

/// How a kind of executor is simulated. kinds/KIND.cpp has that of each kind.
struct SimulationEngine::Kind {
  Lanes lanes = Lanes::kAbsent;
  bool worker_on_each_cpu = false;  ///< by default, a lane has a worker for each CPU, not only one
  bool has_ceilings = true;         ///< a member of a group runs at the group's ceiling
  bool keeps_cpu = false;           ///< nothing preempts a started instance
  bool on_one_cpu = false;          ///< more CPUs are an error

  /// Adds the threads above or beside the lanes.
  void (SimulationEngine::*add_threads)(Id executor) = nullptr;
  /// Changes the levels of the threads that run the executor's callbacks, by callback. Null: each
  /// thread has the level of its callback.
  void (SimulationEngine::*set_thread_levels)(Id executor,
                                              std::vector<int>& levels) const = nullptr;
  /// Returns the lane (queue) of a callback. `lanes` has one lane per level, and `place` is the
  /// index of the callback's level. `more` has the lanes of callbacks that share one apart from
  /// their level, by a key that the kind chooses; each is made when it is first needed. If this
  /// pointer is null, the lane is lanes[place].
  Id (SimulationEngine::*lane_of)(const Callback& callback, const std::vector<Id>& lanes,
                                  std::size_t place, std::map<Id, Id>& more) = nullptr;
  /// Sets up what depends on all callbacks and entities.
  void (SimulationEngine::*complete)(Id executor) = nullptr;
  /// Lets a worker of a lane choose.
  void (SimulationEngine::*pick)(Id thread) = &SimulationEngine::pick_from_lane;
};

}  // namespace rclrt::analysis::detail
