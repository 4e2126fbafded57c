// SPDX-License-Identifier: Apache-2.0
// Everything a node needs.
#pragma once

#include "rclrt/action.hpp"
#include "rclrt/action_client.hpp"
#include "rclrt/action_server.hpp"
#include "rclrt/callback_options.hpp"
#include "rclrt/client.hpp"
#include "rclrt/context.hpp"
#include "rclrt/error.hpp"
#include "rclrt/executors.hpp"
#include "rclrt/guard_condition.hpp"
#include "rclrt/loan.hpp"
#include "rclrt/node.hpp"
#include "rclrt/parameter.hpp"
#include "rclrt/parameter_value.hpp"
#include "rclrt/parameters.hpp"
#include "rclrt/publisher.hpp"
#include "rclrt/qos.hpp"
#include "rclrt/service.hpp"
#include "rclrt/subscription.hpp"
#include "rclrt/synchronizer.hpp"
#include "rclrt/timer.hpp"
